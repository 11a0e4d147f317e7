package replay

import (
	"hash/maphash"
)

// keyTable keeps a record for every key of a rule. It holds no pointers, so that the
// collector has nothing to do with millions of keys, and it is never copied as it grows
// but for four bytes per key.
type keyTable struct {
	seed    maphash.Seed
	slots   []uint32 // number of the record, from 1; a power of two of them
	records [][]keyRecord
	texts   [][]byte
	size    int
}

const (
	recordChunk = 1 << 12
	textChunk   = 1 << 16
	maxKeyText  = 1 << 11 // longer keys are cut where they are shown
)

// keyRecord is what is known of a key. Peaks are of windows that are aligned to the
// clock, by number of peakWindows.
type keyRecord struct {
	hash     uint32
	text     uint32 // chunk and place in it
	length   uint16
	requests uint32
	denial   uint32 // number of its denialRecord, from 1
	last     uint32 // second of the last request, since the first of all
	counts   [len(peakWindows)]uint32
	peaks    [len(peakWindows)]uint32
}

func newKeyTable() *keyTable {
	return &keyTable{seed: maphash.MakeSeed(), slots: make([]uint32, 1<<8)}
}

// at returns record number i.
func (t *keyTable) at(i int) *keyRecord {
	return &t.records[i/recordChunk][i%recordChunk]
}

// text returns the key of a record.
func (t *keyTable) text(r *keyRecord) string {
	return string(t.bytes(r))
}

func (t *keyTable) bytes(r *keyRecord) []byte {
	chunk, from := t.texts[r.text/textChunk], r.text%textChunk
	return chunk[from : from+uint32(r.length)]
}

// find returns the record of a key, a fresh one if there is none.
func (t *keyTable) find(key string) *keyRecord {
	if len(key) > maxKeyText {
		key = key[:maxKeyText]
	}
	hash := uint32(maphash.String(t.seed, key))
	mask := uint32(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		n := t.slots[i]
		if n == 0 {
			t.slots[i] = uint32(t.size + 1)
			r := t.add(hash, key)
			if t.size*4 > len(t.slots)*3 {
				t.grow()
			}
			return r
		}
		if r := t.at(int(n - 1)); r.hash == hash && string(t.bytes(r)) == key {
			return r
		}
	}
}

// add makes a record.
func (t *keyTable) add(hash uint32, key string) *keyRecord {
	if t.size%recordChunk == 0 {
		t.records = append(t.records, make([]keyRecord, recordChunk))
	}
	r := t.at(t.size)
	t.size++
	if n := len(t.texts); n == 0 || len(t.texts[n-1])+len(key) > textChunk {
		t.texts = append(t.texts, make([]byte, 0, textChunk))
	}
	chunk := len(t.texts) - 1
	*r = keyRecord{hash: hash, text: uint32(chunk*textChunk + len(t.texts[chunk])), length: uint16(len(key))}
	t.texts[chunk] = append(t.texts[chunk], key...)
	return r
}

// grow doubles the slots.
func (t *keyTable) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	mask := uint32(len(t.slots) - 1)
	for n := range t.size {
		i := t.at(n).hash & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = uint32(n + 1)
	}
}
