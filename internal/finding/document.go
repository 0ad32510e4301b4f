package finding

// Document is a finding for programs. Fields are only ever added.
type Document struct {
	Code     string           `json:"code" yaml:"code"`
	Severity string           `json:"severity" yaml:"severity"`
	Subject  string           `json:"subject" yaml:"subject"`
	Message  string           `json:"message" yaml:"message"`
	Since    string           `json:"since,omitempty" yaml:"since,omitempty"`
	Remedies []RemedyDocument `json:"remedies" yaml:"remedies"`
	Docs     string           `json:"docs" yaml:"docs"`
	// Units are the other units, and Address is where a server is, that the finding names.
	Units   []string `json:"units,omitempty" yaml:"units,omitempty"`
	Address string   `json:"address,omitempty" yaml:"address,omitempty"`
	// Causes are what the finding follows from.
	Causes []Document `json:"causes,omitempty" yaml:"causes,omitempty"`
}

// RemedyDocument is one way out: Condition names the condition that When is the text of, Commands are typed in this
// order, Deed is what no command does.
type RemedyDocument struct {
	Condition string   `json:"condition,omitempty" yaml:"condition,omitempty"`
	When      string   `json:"when,omitempty" yaml:"when,omitempty"`
	Commands  []string `json:"commands,omitempty" yaml:"commands,omitempty"`
	Deed      string   `json:"deed,omitempty" yaml:"deed,omitempty"`
}
