package revision_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/revision"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/goldentest"
)

func TestAnswersAboutRevisions(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 3, 15, 7, 0, time.UTC)
	was := revision.Layout{Gateways: map[string][]string{"lrp-1": {"c1", "c2"}, "lrp-2": {"c2", "c1"}}}
	now := revision.Layout{Gateways: map[string][]string{"lrp-1": {"c2", "c1"}, "lrp-3": nil}, Cordons: []string{"c1"}}
	rows, ids := map[string]string{}, map[string]string{}
	for _, tag := range []revision.Tag{
		{ID: "g5c0f1b7e", Operation: "rebalance", By: "ubuntu@admin", At: at, Outcome: revision.Succeeded},
		{ID: "g90a3d2e4", Operation: "drain", Node: "c1", By: "ovn-central/1, action 12", At: at.Add(time.Hour), Outcome: revision.Failed},
	} {
		layout := was
		if tag.Node != "" {
			layout = now
		}
		w := revision.Read(rows, ids).Tag(tag, layout)
		for n, text := range w.Added {
			rows[tag.ID+string(rune('a'+n))] = text
		}
		for key, value := range w.Put {
			ids[key] = value
		}
	}
	book := revision.Read(rows, ids)
	review, err := revision.ParseReview(revision.NewReview(was, nil, schedule.Plan{}).String())
	require.NoError(t, err)
	_, missing := revision.Read(nil, nil).Layout(revision.Last)
	for name, status := range map[string]answer.Status{
		"list":         book.List(now),
		"empty":        revision.Read(nil, nil).List(was),
		"compare":      revision.Compare(revision.Successful, revision.Last, was, now),
		"same":         revision.Compare(revision.Committed, revision.Last, now, now),
		"intermediate": review.Since(now, book.Operations(nil), schedule.Plan{}).Refusal(),
		"missing":      answer.New(answer.PreconditionFailed, missing.Error()),
	} {
		goldentest.Equal(t, name+".txt", document.Answer(status))
	}
	goldentest.Document(t, "compare", revision.Compare(revision.Successful, revision.Last, was, now)) // the others have no other keys
}
