package journal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

const none = "0"

// ReviewID names a plan for a layout, so that only the reviewed plan is carried out: the newest operation, and a hash
// of the layout and of the changes.
func (j Journal) ReviewID(l Layout, p schedule.Plan) string {
	newest := none
	if len(j.Entries) > 0 {
		newest = j.Entries[0].ID
	}
	return newest + "-" + digest([]any{p.Operation, l, Layout{}.WithPlan(p)})
}

// CheckReview compares a plan with the reviewed one, by its ID. The answer is nil if they are the same; a conflict
// names the operations that have changed the layout since.
func (j Journal) CheckReview(reviewID string, l Layout, p schedule.Plan) *answer.Status {
	operation, hash, found := strings.Cut(reviewID, "-")
	if !found || operation == "" || hash == "" || strings.Contains(hash, "-") {
		invalid := finding.About(finding.ReviewInvalid, "", finding.Args{Value: strconv.Quote(reviewID)})
		return new(answer.Of(answer.BadRequest, invalid))
	}
	var since []answer.Message
	tagged := j.tagged()
	for _, e := range j.Entries {
		if e.ID == operation {
			break
		}
		at := slices.IndexFunc(tagged, func(t Entry) bool { return t.ID == e.ID })
		unchanged := at >= 0 && at+1 < len(tagged) && tagged[at+1].end.Revision == e.end.Revision
		if e.Gateways > 0 || !unchanged {
			text := fmt.Sprintf("%s by %s, %s", e.what(), e.By, e.At.UTC().Format(time.RFC3339))
			since = append(since, answer.Message{Message: text, Error: true, Kind: messageOperation, Name: e.ID})
		}
	}
	_, now, _ := strings.Cut(j.ReviewID(l, p), "-")
	conflict := finding.About(finding.PlanChanged, "", finding.Args{})
	switch {
	case len(since) > 0:
		conflict = finding.About(finding.OperationsSinceReview, "", finding.Args{Count: len(since)})
	case hash == now:
		return nil
	}
	return new(answer.Of(answer.Conflict, conflict, since...))
}
