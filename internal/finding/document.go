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
	// Units are other units that the finding names, Address is the address of a server.
	Units   []string `json:"units,omitempty" yaml:"units,omitempty"`
	Address string   `json:"address,omitempty" yaml:"address,omitempty"`
	// Causes are the findings that cause it.
	Causes []Document `json:"causes,omitempty" yaml:"causes,omitempty"`
}

// RemedyDocument is one remedy. Condition is the name of the condition, When its text. Commands are to be typed in this
// order, Deed is done by hand.
type RemedyDocument struct {
	Condition string   `json:"condition,omitempty" yaml:"condition,omitempty"`
	When      string   `json:"when,omitempty" yaml:"when,omitempty"`
	Commands  []string `json:"commands,omitempty" yaml:"commands,omitempty"`
	Deed      string   `json:"deed,omitempty" yaml:"deed,omitempty"`
}
