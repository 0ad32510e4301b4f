package ovsctl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// What an ovsdb-server writes to its log when it begins, and what one of before OVS
// 3.2 does when it ends on a file in which, or because a leader sends, a conversion of
// a newer one: that has no data beside the schema (parse_txn in OVS's
// ovsdb/ovsdb-server.c, the same line from 2.9 on). Debian's 3.1 shows it.
const (
	logBegins = "|vlog|INFO|opened log file "
	logTooNew = "assertion txn_json failed in parse_txn()"
)

// logEnd bounds what is read of a log, in bytes: a server that ends so writes less
// than 2 KiB from its begin on.
const logEnd = 64 << 10

// FileTooNew reports whether the last server that ran on the database's file ended since the
// file, or what its leader sent, is of a newer Open vSwitch than the server was, as far
// as its log tells.
func FileTooNew(p ovndb.Paths, d ovndb.Database) (bool, error) {
	f, err := os.Open(p.Log(d))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("cannot read the server's log: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("cannot read the server's log: %w", err)
	}
	text, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-logEnd), logEnd))
	if err != nil {
		return false, fmt.Errorf("cannot read the server's log: %w", err)
	}
	if begin := bytes.LastIndex(text, []byte(logBegins)); begin >= 0 {
		text = text[begin:]
	}
	return strings.Contains(string(text), logTooNew), nil
}
