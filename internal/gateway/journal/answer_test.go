package journal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/goldentest"
)

func TestRevisions_answers(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 3, 15, 7, 0, time.UTC)
	was := journal.Layout{Gateways: map[string][]string{"lrp-1": {"c1", "c2"}, "lrp-2": {"c2", "c1"}}}
	now := journal.Layout{Gateways: map[string][]string{"lrp-1": {"c2", "c1"}, "lrp-3": nil}, Cordons: []string{"c1"}}
	rows := map[string]string{}
	end := func(id, operation, chassis, by string, at time.Time, outcome journal.Outcome, l journal.Layout) {
		for n, text := range journal.Read(rows).End(journal.Begin(id, operation, chassis, by), outcome, l, at).Added {
			rows[id+string(rune('a'+n))] = text
		}
	}
	review := journal.Read(rows).ReviewID(was, schedule.Plan{})
	end("g5c0f1b7e", "rebalance", "", "ubuntu@admin", at, journal.Succeeded, was)
	end("g90a3d2e4", "drain", "c1", "ovn-central/1, action 12", at.Add(time.Hour), journal.Failed, now)
	book := journal.Read(rows)
	_, err := journal.Read(nil).Layout(journal.Last)
	var missing *answer.RefusedError
	require.ErrorAs(t, err, &missing)
	for name, status := range map[string]answer.Status{
		"list":         book.List(now),
		"empty":        journal.Read(nil).List(was),
		"compare":      journal.Compare(journal.Successful, journal.Last, was, now),
		"same":         journal.Compare(journal.Committed, journal.Last, now, now),
		"intermediate": *book.CheckReview(review, now, schedule.Plan{}),
		"missing":      missing.Status,
	} {
		goldentest.Equal(t, name+".txt", document.Answer(status))
	}
	// the others have no other keys
	goldentest.Document(t, "compare", journal.Compare(journal.Successful, journal.Last, was, now))
}
