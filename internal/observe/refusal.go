package observe

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// Refusal is the start guard's record of a server that it did not let start. The next allowed start removes it.
type Refusal struct {
	// Cluster is the cluster of the server's file.
	Cluster raft.ID `json:"cluster"`
	// Reason is one line for people.
	Reason string `json:"reason"`
	// Answers are the answers of other units' servers about both databases, for the other database's guard.
	Answers map[ovndb.Database][]recovery.Answer `json:"answers,omitempty"`
}

// RefusedStart returns the start guard's refusal of the last start of a database's server. It is zero if the start was
// allowed, or the guard not asked.
func RefusedStart(p ovndb.Paths, d ovndb.Database) (r Refusal, err error) {
	text, err := os.ReadFile(p.StartRefusal(d))
	if errors.Is(err, fs.ErrNotExist) {
		return Refusal{}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return Refusal{}, fmt.Errorf("cannot read why the start of the server was refused: %w", err)
	}
	return r, nil
}
