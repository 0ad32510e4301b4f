package machine

import "strings"

// envState is where the reader of an EnvironmentFile is.
type envState int

const (
	beforeKey envState = iota
	inKey
	beforeValue
	inValue
	escaped
	inSingle
	inDouble
	escapedInDouble
	inComment
	escapedInComment
)

// parseEnvironment reads an EnvironmentFile as systemd 252 does
// (systemd.exec(5); src/basic/env-file.c): lines KEY=VALUE, comments with # or ;
// at a line's beginning, quotes, and a backslash that takes the next character
// as it is, or joins the next line. There are no variables in it.
func parseEnvironment(text string) map[string]string {
	result := map[string]string{}
	var key, value strings.Builder
	kept := 0 // the value's length without white space at its end
	state := beforeKey
	finish := func() {
		if name := strings.TrimRight(key.String(), whiteSpace); name != "" && state != inKey {
			result[name] = value.String()[:kept]
		}
		key.Reset()
		value.Reset()
		kept, state = 0, beforeKey
	}
	keep := func(r rune) {
		value.WriteRune(r)
		kept = value.Len()
	}
	for _, r := range text {
		newline := r == '\n' || r == '\r'
		switch state {
		case beforeKey:
			switch {
			case r == '#' || r == ';':
				state = inComment
			case !strings.ContainsRune(whiteSpace, r):
				state = inKey
				key.WriteRune(r)
			}
		case inKey:
			switch {
			case newline:
				finish()
			case r == '=':
				state = beforeValue
			default:
				key.WriteRune(r)
			}
		case beforeValue, inValue:
			switch {
			case newline:
				finish()
			case r == '\'' && state == beforeValue:
				state = inSingle
			case r == '"' && state == beforeValue:
				state = inDouble
			case r == '\\':
				state = escaped
			case strings.ContainsRune(whiteSpace, r):
				if state == inValue {
					value.WriteRune(r)
				}
			default:
				state = inValue
				keep(r)
			}
		case escaped:
			state = inValue
			if !newline {
				keep(r)
			}
		case inSingle:
			if r == '\'' {
				state = beforeValue
			} else {
				keep(r)
			}
		case inDouble:
			switch r {
			case '"':
				state = beforeValue
			case '\\':
				state = escapedInDouble
			default:
				keep(r)
			}
		case escapedInDouble:
			state = inDouble
			if !strings.ContainsRune("\"\\`$\n", r) {
				keep('\\')
			}
			if !newline {
				keep(r)
			}
		case inComment:
			switch {
			case r == '\\':
				state = escapedInComment
			case newline:
				state = beforeKey
			}
		case escapedInComment:
			state = inComment
		}
	}
	finish()
	return result
}

const whiteSpace = " \t\n\r"
