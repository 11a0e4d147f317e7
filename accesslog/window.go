package accesslog

// window holds what was read of all files and not yet given out: sorted runs, the one
// with the earliest entry on top of a heap.
type window struct {
	runs   []run
	second int64 // of the coarse entries that are given out
	among  int32
	place  int32
}

// run is a block and how far it was given out.
type run struct {
	time   int64 // of its next entry
	serial uint64
	block  *block
	file   *file
	at     int
}

// before orders runs: by time, then as they stand in the files.
func (r *run) before(o *run) bool {
	switch {
	case r.time != o.time:
		return r.time < o.time
	case r.file.number != o.file.number:
		return r.file.number < o.file.number
	}
	return r.serial < o.serial
}

// load reads what the run has next.
func (r *run) load() {
	e := r.block.at(r.at)
	r.time, r.serial = e.Time, e.serial
}

// size is how many entries are in the window.
func (w *window) size() (n int) {
	for i := range w.runs {
		n += len(w.runs[i].block.entries) - w.runs[i].at
	}
	return n
}

// add puts a block into the heap.
func (w *window) add(f *file, b *block) {
	r := run{block: b, file: f}
	r.load()
	w.runs = append(w.runs, r)
	for i := len(w.runs) - 1; i > 0; {
		parent := (i - 1) / 2
		if !w.runs[i].before(&w.runs[parent]) {
			break
		}
		w.runs[i], w.runs[parent] = w.runs[parent], w.runs[i]
		i = parent
	}
}

// next returns the earliest entry, its block and its file; done tells that this was the
// last of the block.
func (w *window) next() (e *Entry, b *block, f *file, done bool) {
	top := &w.runs[0]
	b, f = top.block, top.file
	e = b.at(top.at)
	if e.Coarse {
		w.number(e)
	}
	if top.at++; top.at < len(top.block.entries) {
		top.load()
	} else {
		done = true
		last := len(w.runs) - 1
		*top = w.runs[last]
		w.runs[last] = run{}
		w.runs = w.runs[:last]
	}
	w.sink()
	return e, b, f, done
}

// sink brings the top to where it belongs.
func (w *window) sink() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(w.runs) {
			return
		}
		if other := child + 1; other < len(w.runs) && w.runs[other].before(&w.runs[child]) {
			child = other
		}
		if !w.runs[child].before(&w.runs[i]) {
			return
		}
		w.runs[i], w.runs[child] = w.runs[child], w.runs[i]
		i = child
	}
}

// number tells a coarse entry its place among those of its second, as far as they are
// in the window.
func (w *window) number(e *Entry) {
	if e.Time != w.second || w.among == 0 {
		w.second, w.place = e.Time, 0
		w.among = w.count(0)
	}
	e.Place, e.Among = w.place, max(w.among, w.place+1)
	w.place++
}

// count counts the entries of the second, in the run at i of the heap and those below.
func (w *window) count(i int) (n int32) {
	if i >= len(w.runs) || w.runs[i].time != w.second {
		return 0
	}
	r := &w.runs[i]
	for at := r.at; at < len(r.block.entries) && r.block.at(at).Time == w.second; at++ {
		n++
	}
	return n + w.count(2*i+1) + w.count(2*i+2)
}
