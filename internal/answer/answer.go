// Package answer has the only form in which an operation reports its outcome. It is pure.
package answer

import (
	"fmt"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Reason is the kind of an operation's outcome.
type Reason string

// The reasons, with the names in the specification of a node's teardown.
const (
	Success              Reason = "Success"
	NotFound             Reason = "NotFound"
	BadRequest           Reason = "BadRequest"
	Conflict             Reason = "Conflict"
	PreconditionFailed   Reason = "PreconditionFailed"
	DrainNodeError       Reason = "DrainNodeError"
	ClearLabelsError     Reason = "ClearLabelsError"
	RemoveMemberError    Reason = "RemoveMemberError"
	DisassociateFailure  Reason = "DisassociateStepFailure"
	DeleteNodeError      Reason = "DeleteNodeError"
	ClusterNotAccessible Reason = "ClusterNotAccessible"
)

// Code returns a reason's number, which is an HTTP status code.
func (r Reason) Code() int {
	switch r {
	case Success:
		return 200
	case BadRequest:
		return 400
	case NotFound:
		return 404
	case Conflict:
		return 409
	case PreconditionFailed:
		return 412
	}
	return 500
}

// The kinds of messages.
const (
	// MessageStep is about a step, or a part of one, MessageHold about a hold of a node.
	MessageStep = "StepMessage"
	MessageHold = "HoldMessage"
	// MessageGateway is about a gateway, MessageHealth about the health of a database.
	MessageGateway = "GatewayMessage"
	MessageHealth  = "HealthMessage"
	// MessageNext has a command to run next.
	MessageNext = "NextMessage"
)

// Message is one of an answer's details.
type Message struct {
	Message string `json:"message" yaml:"message"`
	Error   bool   `json:"error" yaml:"error"`
	Kind    string `json:"kind" yaml:"kind"`
	Name    string `json:"name" yaml:"name"`
	// Skipped reports whether the message is about a step that was not made, without an error. The message names the
	// cause.
	Skipped bool `json:"skipped,omitempty" yaml:"skipped,omitempty"`
	// When is the condition of a command to run next. Commands without one are run in their order.
	When string `json:"when,omitempty" yaml:"when,omitempty"`
	// Code is the finding's code, if the message is a finding.
	Code string `json:"code,omitempty" yaml:"code,omitempty"`
}

// Details explain an answer.
type Details struct {
	ErrorCount  int       `json:"errorCount" yaml:"errorCount"`
	MessageList []Message `json:"messageList" yaml:"messageList"`
	// Omitted counts the messages that were omitted for lack of room.
	Omitted int `json:"omitted,omitempty" yaml:"omitted,omitempty"`
}

// Status is an answer in Airship's form (Promenade's utils/message.py has the fields). The specification of a node's
// teardown demands this form, so its keys errorCount, messageList and apiVersion differ in style from all others.
type Status struct {
	Kind       string            `json:"kind" yaml:"kind"`
	APIVersion string            `json:"apiVersion" yaml:"apiVersion"`
	Metadata   map[string]string `json:"metadata" yaml:"metadata"`
	Status     string            `json:"status" yaml:"status"`
	Message    string            `json:"message" yaml:"message"`
	Reason     Reason            `json:"reason" yaml:"reason"`
	Code       int               `json:"code" yaml:"code"`
	Details    Details           `json:"details" yaml:"details"`
}

// New returns an answer with its details.
func New(reason Reason, message string, details ...Message) Status {
	s := Status{
		Kind: "Status", APIVersion: "v1.0", Metadata: map[string]string{}, Status: "Failure",
		Message: message, Reason: reason, Code: reason.Code(), Details: Details{MessageList: []Message{}},
	}
	if reason == Success {
		s.Status = "Success"
	}
	return s.With(details...)
}

// Of returns the answer for a finding, with its code in the metadata.
func Of(reason Reason, f finding.Finding, details ...Message) Status {
	s := New(reason, f.Message(), details...)
	s.Metadata["finding"] = string(f.Code)
	return s
}

// OK reports whether the operation succeeded.
func (s Status) OK() bool { return s.Reason == Success }

// With returns the answer with these details after its present ones.
func (s Status) With(details ...Message) Status {
	s.Details.MessageList = append(append([]Message{}, s.Details.MessageList...), details...)
	s.Details.ErrorCount = 0
	for _, m := range s.Details.MessageList {
		if m.Error {
			s.Details.ErrorCount++
		}
	}
	return s
}

// Shortened returns the answer with at most that many details, and counts the omitted ones. It keeps failures, and
// the commands to run next, before steps that succeeded.
func (s Status) Shortened(most int) Status {
	omitted := len(s.Details.MessageList) - most
	if omitted <= 0 {
		return s
	}
	var kept []Message
	for _, wanted := range []func(Message) bool{
		func(m Message) bool { return m.Kind == MessageNext },
		func(m Message) bool { return m.Kind != MessageNext && m.Error },
		func(m Message) bool { return m.Kind != MessageNext && !m.Error },
	} {
		for _, m := range s.Details.MessageList {
			if wanted(m) && len(kept) < most {
				kept = append(kept, m)
			}
		}
	}
	s.Details.Omitted += omitted
	s.Details.MessageList = append(kept, Message{
		Message: fmt.Sprintf("and %d more", omitted), Kind: MessageStep,
		Name: "…",
	})
	return s
}

// RefusedError is a refusal as an error.
type RefusedError struct{ Status Status }

// Error returns the message of the answer.
func (e *RefusedError) Error() string { return e.Status.Message }

// Refuse returns a [*RefusedError].
func Refuse(reason Reason, why finding.Reason) error {
	return &RefusedError{New(reason, why.String())}
}
