// Package foreign cleans and bounds texts of other parties: rows of the databases, relation data, answers, files
// (R18). A reader passes each text through it that may be shown or written again. So no control character reaches a
// terminal, each line remains one line, and no single text fills an answer.
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

// cut marks the end of a shortened text.
const cut = "…"

// Name returns a name in the form in which it is shown: a question mark replaces each character that can't be
// printed, and a name longer than [MaxName] is cut.
func Name(text string) string { return clean(text, MaxName) }

// Reason returns a text for people in the form in which it is shown. The result has at most [MaxReason] bytes.
func Reason(text string) string { return clean(text, MaxReason) }

// IsName reports whether [Name] returns the text unchanged. Only such a text can be an identity: the databases find
// and write a row by the exact bytes of its name, and two rows must not be shown with the same name.
func IsName(text string) bool { return text == Name(text) }

// Names cleans each name in place, and returns the list.
func Names(all []string) []string {
	for i := range all {
		all[i] = Name(all[i])
	}
	return all
}

// Texts applies [Reason] to every text that a pointer leads to: in fields, lists and values of maps. It is for whole
// answers of another program.
func Texts(of any) { each(reflect.ValueOf(of), Reason) }

// AllNames applies [Name] to the texts to which [Texts] applies [Reason].
func AllNames(of any) { each(reflect.ValueOf(of), Name) }

func each(v reflect.Value, clean func(string) string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			each(v.Elem(), clean)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			each(v.Field(i), clean)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			each(v.Index(i), clean)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			each(value, clean)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(clean(v.String()))
		}
	}
}

// clean reads only as much of a text as it returns.
func clean(text string, most int) string {
	var b strings.Builder
	whole := 0 // the length to which b is cut if the text is too long
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

// shows reports whether a rune is visible. [unicode.IsPrint] excludes control characters, line breaks, every space
// except the plain one, and runes that change the direction of a text or have no width.
func shows(r rune) bool {
	return unicode.IsPrint(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}
