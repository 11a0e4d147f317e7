package api

// decoder reads the body of a check without reflection. It knows the plain forms only
// and gives up on everything else, right or wrong: decodeCheck then reads the body once
// more with encoding/json, which has the last word and words what is wrong.
//
// Texts are parts of the body's text, so that it takes no memory but for texts with
// escapes.
type decoder struct {
	text string
	at   int
}

// decode reads a whole body into p, and reports whether it could.
func (p *parsed) decode(text string) bool {
	d := decoder{text: text}
	return d.check(p) && d.end() && p.finish() == nil
}

// skip passes over white space.
func (d *decoder) skip() {
	for d.at < len(d.text) && d.text[d.at] <= ' ' && isSpace(d.text[d.at]) {
		d.at++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// take passes over c, after white space.
func (d *decoder) take(c byte) bool {
	if d.at < len(d.text) && d.text[d.at] == c {
		d.at++
		return true
	}
	d.skip()
	if d.at < len(d.text) && d.text[d.at] == c {
		d.at++
		return true
	}
	return false
}

func (d *decoder) end() bool {
	d.skip()
	return d.at == len(d.text)
}

// more reports whether another member follows, and passes over what separates it from
// the one before. closed says whether the list was closed; if both are false, it is
// broken.
func (d *decoder) more(first bool, close byte) (another, closed bool) {
	if d.take(close) {
		return false, true
	}
	if first {
		return true, false
	}
	return d.take(','), false
}

// check reads one request with status, or a batch.
func (d *decoder) check(p *parsed) bool {
	if !d.take('{') {
		return false
	}
	var it *item
	seen := fields(0)
	for first := true; ; first = false {
		another, closed := d.more(first, '}')
		if closed {
			if it == nil && !p.batch {
				p.next()
			}
			return true
		}
		f, ok := d.field(&seen)
		if !another || !ok || p.batch {
			return false
		}
		switch f {
		case fieldRequests:
			p.special = true
			if p.batch = true; !first || !d.requests(p) {
				return false
			}
		case fieldStatus:
			p.special = true
			if p.status, ok = d.boolean(); !ok {
				return false
			}
		default:
			if it == nil {
				it = p.next()
			}
			if !d.member(it, f) {
				return false
			}
		}
	}
}

// requests reads the list of a batch.
func (d *decoder) requests(p *parsed) bool {
	if !d.take('[') {
		return false
	}
	for first := true; ; first = false {
		another, closed := d.more(first, ']')
		if closed {
			return true
		}
		if !another || len(p.items) == MaxBatch || !d.request(p.next()) {
			return false
		}
	}
}

// request reads one request of a batch.
func (d *decoder) request(it *item) bool {
	if !d.take('{') {
		return false
	}
	seen := fields(0)
	for first := true; ; first = false {
		another, closed := d.more(first, '}')
		if closed {
			return true
		}
		f, ok := d.field(&seen)
		if !another || !ok || !d.member(it, f) {
			return false
		}
	}
}

// member reads the value of a field of a request.
func (d *decoder) member(it *item, f field) (ok bool) {
	r := &it.request
	switch f {
	case fieldMethod:
		r.Method, ok = d.string()
	case fieldHost:
		r.Host, ok = d.string()
	case fieldPath:
		r.Path, ok = d.string()
	case fieldQuery:
		r.Query, ok = d.string()
	case fieldIP:
		it.ip, ok = d.string()
	case fieldUser:
		r.User, ok = d.string()
	case fieldHeaders:
		ok = d.pairs(it.addHeader)
	case fieldAttributes:
		ok = d.pairs(it.addAttribute)
	case fieldCost:
		r.Cost, ok = d.integer()
	case fieldLength:
		r.Length, ok = d.integer()
	}
	return ok
}

// pairs reads an object of texts, and stops when add does not take one.
func (d *decoder) pairs(add func(name, value string) bool) bool {
	if !d.take('{') {
		return false
	}
	for first := true; ; first = false {
		another, closed := d.more(first, '}')
		if closed {
			return true
		}
		name, value, ok := d.pair()
		if !another || !ok || !add(name, value) {
			return false
		}
	}
}

// pair reads a name and a text.
func (d *decoder) pair() (name, value string, ok bool) {
	if name, ok = d.string(); !ok || !d.take(':') {
		return "", "", false
	}
	value, ok = d.string()
	return name, value, ok
}

// addHeader takes a header field, if there is room for it.
func (it *item) addHeader(name, value string) bool {
	if len(it.headers) == most {
		return false
	}
	it.headers = append(it.headers, header{name, value})
	return true
}

// addAttribute takes an attribute that is new, if there is room for it.
func (it *item) addAttribute(name, value string) bool {
	if it.attributes == nil {
		it.attributes = make(map[string]string)
	}
	if _, twice := it.attributes[name]; twice || len(it.attributes) == most {
		return false
	}
	it.attributes[name] = value
	return true
}
