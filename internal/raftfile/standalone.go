package raftfile

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // the file format's own checksum (ovsdb(5)), no secret
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/ctxio"
)

// Standalone copies the clustered database in the file from to a new standalone database (ovsdb(5)) in the file to,
// which it replaces. The copy has the snapshot at the beginning of the log and the entries up to index upTo, committed
// or not. Standalone returns the index of the newest copied entry. A server may write meanwhile. A damaged file is an
// error.
//
// The command cluster-to-standalone of ovsdb-tool can't be used instead (raft_record_to_standalone_log() in
// ovsdb/ovsdb-tool.c). It also copies entries that were later replaced. Since an entry is a difference to the values
// before it, the copy then has changes that were never committed, and lacks committed ones. The command also ignores
// the schemas of conversions, and needs several times the file's size of memory.
func Standalone(ctx context.Context, from string, upTo uint64, to string, convert Conversion) (last uint64, err error) {
	file, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	parts, err := entriesOf(ctx, file, upTo)
	if err == nil {
		err = writeStandalone(ctx, file, parts, to, convert)
	}
	if err != nil {
		return 0, errors.Join(err, atomicfile.Remove(to))
	}
	return parts[len(parts)-1].index, nil
}

// Conversion converts the standalone database in the file path to the schema in the file schema.
type Conversion func(ctx context.Context, path, schema string) error

// part is a record that belongs to the copy. It has the place of the record's JSON text in the file, in bytes, and
// the index of its entry, or of the last entry in the snapshot.
type part struct {
	index          uint64
	offset, length int64
}

// entriesOf returns the snapshot and the entries up to the given index. If an entry was written again, the earlier
// one and all that followed it are dropped (section 5.3 of the Raft paper; raft_apply_record() in ovsdb/raft.c).
func entriesOf(ctx context.Context, file io.ReadSeeker, upTo uint64) (parts []part, err error) {
	scan := logScan{seen: func(at int64, r logRecord) {
		p := part{index: r.Index, offset: at + int64(len(r.head)), length: r.size - int64(len(r.head))}
		switch {
		case at == 0:
			p.index = r.PrevIndex
		case r.Index == 0:
			return
		}
		parts = append(before(parts, p.index), p)
	}}
	if _, err := scan.read(ctx, file); err != nil {
		return nil, err
	}
	if scan.Damage != "" {
		return nil, errors.New(scan.Damage)
	}
	if len(parts) == 0 {
		return nil, errTorn
	}
	if upTo < math.MaxUint64 {
		parts = before(parts, upTo+1)
	}
	return parts, nil
}

// before returns the snapshot and the entries before an index.
func before(parts []part, index uint64) []part {
	for len(parts) > 1 && parts[len(parts)-1].index >= index {
		parts = parts[:len(parts)-1]
	}
	return parts
}

// writeStandalone writes the schema and the transactions of the parts.
func writeStandalone(ctx context.Context, file io.ReaderAt, parts []part, to string, convert Conversion) (err error) {
	out, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Sync(), out.Close()) }()
	for i, p := range parts {
		schema, transaction, err := dataOf(ctx, io.NewSectionReader(file, p.offset, p.length))
		if err != nil {
			return fmt.Errorf("entry %d: %w", p.index, err)
		}
		switch {
		case i == 0 && schema == nil:
			return errors.New("it has no data yet: its server has not joined")
		case schema != nil && transaction != nil: // the whole database in this schema
			err = replaceContents(ctx, out, schema)
		case schema != nil: // Open vSwitch 3.2 or later converts the data (parse_txn() in ovsdb/ovsdb-server.c)
			out, err = convertFile(ctx, out, schema, convert)
		}
		if err == nil && transaction != nil {
			err = appendRecord(ctx, out, transaction)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replaceContents replaces the file's contents with a schema.
func replaceContents(ctx context.Context, file *os.File, schema *io.SectionReader) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	return appendRecord(ctx, file, schema)
}

// convertFile converts the standalone database written so far to a schema, and returns the new file.
func convertFile(ctx context.Context, out *os.File, schema *io.SectionReader, convert Conversion) (*os.File, error) {
	path, text := out.Name(), make([]byte, schema.Size())
	if _, err := io.ReadFull(schema, text); err != nil {
		return out, err
	}
	wanted := path + ".schema"
	defer os.Remove(wanted)
	if err := os.WriteFile(wanted, text, 0o600); err != nil {
		return out, err
	}
	if err := convert(ctx, path, wanted); err != nil {
		return out, fmt.Errorf("cannot convert the copy to the schema in the log: %w", err)
	}
	converted, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0o600) // the conversion has replaced the file
	if err != nil {
		return out, err
	}
	return converted, out.Close()
}

// appendRecord writes one record of a standalone database's file: a line with the length
// and the SHA-1 of the text that follows (ovsdb(5), "Standalone Format").
func appendRecord(ctx context.Context, out io.Writer, text *io.SectionReader) error {
	hash := sha1.New() //nolint:gosec // see above
	if _, err := io.Copy(hash, io.MultiReader(ctxio.NewReader(ctx, text), bytes.NewReader(newline))); err != nil {
		return err
	}
	if _, err := text.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "OVSDB JSON %d %x\n", text.Size()+int64(len(newline)), hash.Sum(nil)); err != nil {
		return err
	}
	_, err := io.Copy(out, io.MultiReader(ctxio.NewReader(ctx, text), bytes.NewReader(newline)))
	return err
}

var newline = []byte("\n")

// dataOf finds the two elements of a record's "data", or of the first record's "prev_data": a schema and a
// transaction. Each is nil if it is null or missing.
func dataOf(ctx context.Context, record *io.SectionReader) (schema, transaction *io.SectionReader, err error) {
	found, err := elementsOf(ctxio.NewReader(ctx, record))
	if err != nil {
		return nil, nil, err
	}
	if found != nil && len(found) != 2 {
		return nil, nil, fmt.Errorf("its data are %d elements instead of a schema and a transaction", len(found))
	}
	parts := [2]*io.SectionReader{}
	for i, at := range found {
		section, text := io.NewSectionReader(record, at[0], at[1]-at[0]), make([]byte, len("null"))
		if _, err := section.ReadAt(text, 0); section.Size() != int64(len(text)) || err != nil || string(text) != "null" {
			parts[i] = section
		}
	}
	return parts[0], parts[1], nil
}

// elementsOf returns the first and the last place of each element of the array in a record's data. OVSDB writes JSON
// without spaces between elements.
func elementsOf(record io.Reader) (found [][2]int64, err error) {
	var text topLevel
	var start int64
	inside := false
	text.visit = func(c byte, at int64) {
		switch {
		case text.text:
		case !inside:
			if key := string(text.key); c == '[' && text.depth == 1 && text.afterColon && (key == "data" || key == "prev_data") {
				inside, start = true, at+1
			}
		case text.depth == 2 && (c == ',' || c == ']'):
			found = append(found, [2]int64{start, at})
			start, inside = at+1, c == ','
		}
	}
	_, err = io.Copy(&text, record)
	return found, err
}
