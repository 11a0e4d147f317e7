package resp

// splitWords cuts a line into words at spaces. A word may stand in quotes; in double ones
// \n, \r, \t, \b, \a and \xHH are what they are in Go, and a backslash before anything
// else stands for that itself. In single ones only \' is something else. What the words
// are after that is written over the line, so that nothing is allocated.
func splitWords(line []byte, args [][]byte) ([][]byte, error) {
	at := 0
	for {
		for at < len(line) && isSpace(line[at]) {
			at++
		}
		if at == len(line) {
			return args, nil
		}
		if len(args) == maxArgs {
			return nil, errArrayLength
		}
		word, next, ok := cutWord(line, at)
		if !ok {
			return nil, errQuotes
		}
		args, at = append(args, word), next
	}
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' || c == 0 }

// cutWord takes the word that begins at from. It never grows by decoding.
func cutWord(line []byte, from int) (word []byte, next int, ok bool) {
	to, at := from, from
	for at < len(line) && !isSpace(line[at]) {
		quote := line[at]
		if quote != '"' && quote != '\'' {
			line[to] = quote
			to, at = to+1, at+1
			continue
		}
		for at++; ; {
			if at == len(line) {
				return nil, 0, false
			}
			if line[at] == quote {
				at++
				break
			}
			c, size := unquote(line[at:], quote)
			line[to] = c
			to, at = to+1, at+size
		}
		if at < len(line) && !isSpace(line[at]) { // a closing quote ends the word
			return nil, 0, false
		}
	}
	return line[from:to], at, true
}

// unquote reads one byte of a word in quotes; size is how many stand for it.
func unquote(text []byte, quote byte) (c byte, size int) {
	if text[0] != '\\' || len(text) < 2 {
		return text[0], 1
	}
	if quote == '\'' {
		if text[1] == '\'' {
			return '\'', 2
		}
		return '\\', 1
	}
	switch text[1] {
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'b':
		return '\b', 2
	case 'a':
		return '\a', 2
	case 'x':
		if len(text) >= 4 {
			high, low := hexDigit(text[2]), hexDigit(text[3])
			if high >= 0 && low >= 0 {
				return byte(high<<4 | low), 4
			}
		}
	}
	return text[1], 2
}

// hexDigit returns what a digit stands for, -1 if it is none.
func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
