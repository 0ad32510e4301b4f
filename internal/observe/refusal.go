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

// Refusal is what the start guard notes of a server that it has kept from starting. Each start
// that it allows removes the note.
type Refusal struct {
	// Cluster is that of the server's file.
	Cluster raft.ID `json:"cluster"`
	// Reason is one line for people.
	Reason string `json:"reason"`
	// Answers are what other units' servers have said of both databases, for the guard of the other one.
	Answers map[ovndb.Database][]recovery.Answer `json:"answers,omitempty"`
}

// RefusedStart returns the start guard's refusal of the last start of a database's server; a zero
// Refusal if it has allowed that, or was not asked.
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
