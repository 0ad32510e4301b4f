// Package foreign cleans and bounds texts that another party has written: rows of the databases, relation data, answers,
// files (rule R18). A reader passes each text through it that may be shown or written again. So a terminal gets no
// control characters, a line stays a line, and no text fills an answer.
package foreign

import (
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits in bytes. A host name has at most 253 (RFC 1035, section 2.3.4).
const (
	MaxName   = 255
	MaxReason = 1 << 10
)

// cut is the end of a text that was longer.
const cut = "…"

// Name returns a name as it is shown: what can't be printed is a question mark, what is longer than [MaxName] is cut.
func Name(text string) string { return clean(text, MaxName) }

// Reason returns a text for people as it is shown, in at most [MaxReason] bytes.
func Reason(text string) string { return clean(text, MaxReason) }

// IsName reports whether a text is a name as it stands. Only such a one can be an identity: what goes by its name in
// the databases is found, and written, by the very bytes, and two of them must not be shown alike.
func IsName(text string) bool { return text == Name(text) }

// Names cleans each of them in place, and returns them.
func Names(all []string) []string {
	for i := range all {
		all[i] = Name(all[i])
	}
	return all
}

// Texts cleans, as [Reason] does, every text that a pointer leads to: in fields, lists and values of maps. It is for
// whole answers of another program.
func Texts(of any) { texts(reflect.ValueOf(of)) }

func texts(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			texts(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			texts(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			texts(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			texts(value)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(Reason(v.String()))
		}
	}
}

// clean reads no more of a text than it shows.
func clean(text string, most int) string {
	var b strings.Builder
	whole := 0 // how much there is of b if it has to be cut
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 || !shows(r) {
			r = '?'
		}
		text = text[size:]
		b.WriteRune(r)
		if b.Len() <= most-len(cut) {
			whole = b.Len()
		}
		if b.Len() > most {
			return b.String()[:whole] + cut
		}
	}
	return b.String()
}

// shows reports whether a rune is seen as itself. [unicode.IsPrint] leaves out control characters, line breaks, every
// space but the plain one, and those that change the direction of a text or have no width.
func shows(r rune) bool {
	return unicode.IsPrint(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}
