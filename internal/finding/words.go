package finding

// Words are a text that this package has not written: an error, what another program has said, or names from
// elsewhere. All other texts about a problem are in this package's tables. [Said] and [Quote] take no text that is
// written in the product.
type Words struct{ text string }

// Names of what has no known name.
const (
	TheProvider = "the provider"
	ThisUnit    = "this unit"
	AnotherUnit = "another unit"
)

// Said returns a text from elsewhere as the detail of a finding.
func Said(text string) Words { return Words{text} }

// String returns the text.
func (w Words) String() string { return w.text }

// MarshalText returns the text: a stored finding has it as a string.
func (w Words) MarshalText() ([]byte, error) { return []byte(w.text), nil }

// UnmarshalText reads a stored text.
func (w *Words) UnmarshalText(text []byte) error {
	w.text = string(text)
	return nil
}
