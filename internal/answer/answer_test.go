package answer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
)

// The specification's reasons, and their numbers.
func TestReason(t *testing.T) {
	t.Parallel()
	for reason, code := range map[answer.Reason]int{
		answer.Success: 200, answer.BadRequest: 400, answer.NotFound: 404, answer.Conflict: 409,
		answer.PreconditionFailed: 412,
		answer.DrainNodeError:     500, answer.ClearLabelsError: 500, answer.RemoveMemberError: 500,
		answer.DisassociateFailure: 500,
		answer.DeleteNodeError:     500, answer.ClusterNotAccessible: 500,
	} {
		assert.Equal(t, code, reason.Code(), reason)
	}
}

func TestShortened(t *testing.T) {
	t.Parallel()
	done, failed := answer.Message{Message: "done"}, answer.Message{Message: "failed", Error: true}
	next := answer.Message{Message: "juju run", Kind: answer.MessageNext}
	short := answer.New(answer.DrainNodeError, "x", done, failed, done, next).Shortened(2)
	assert.Equal(t, 2, short.Details.Omitted)
	assert.Equal(t, 1, short.Details.ErrorCount)
	assert.Equal(t, []answer.Message{
		next, failed, {Message: "and 2 more", Kind: answer.MessageStep, Name: "…"},
	}, short.Details.MessageList)
}
