package raftfile

import (
	"bufio"
	"bytes"
	"crypto/sha1" //nolint:gosec // the file format's own checksum (ovsdb(5)), no secret
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// recordLead begins each record of a clustered database's file. The length of the JSON
// text and its SHA-1 follow (ovsdb(5), "Clustered Format").
const recordLead = "OVSDB CLUSTER "

// maxHeader is the length of the longest header line, in bytes (ovsdb_log_read() in ovsdb/log.c).
const maxHeader = 128

// errTorn is returned for an incomplete record.
var errTorn = errors.New("the record is incomplete")

// logRecord is one record of the server's log. A field without a value in the record is 0 or empty.
type logRecord struct {
	// Index and Term belong to an entry.
	Index, Term uint64
	// Commit is the index up to which entries are committed.
	Commit uint64
	// Vote is the member for which the server voted in Term.
	Vote string
	// Note is free text.
	Note string
	// Servers has the members from this entry or snapshot on: their addresses by server ID. It is nil if the record has
	// no configuration.
	Servers map[string]string
	// The first record has the ID of the file's own Server, its Raft Address, the ID of its
	// Cluster once it has joined, and the Name of the database.
	Server, Address, Cluster, Name string
	// PrevIndex and PrevTerm belong to the snapshot at the beginning of the file.
	PrevIndex, PrevTerm uint64
	// size is the number of bytes of the record, including its header.
	size int64
	head string
}

// readRecord reads the next record, and keeps only the fields of [logRecord]. At the end of the file it returns
// io.EOF. Afterwards the reader is after the record, or at the error.
func readRecord(r *bufio.Reader) (logRecord, error) {
	var rec logRecord
	line, err := readHeader(r)
	if err != nil {
		return rec, err
	}
	length, sum, err := parseHeader(line)
	if err != nil {
		return rec, err
	}
	body := io.LimitReader(r, length)
	hash := sha1.New() //nolint:gosec // see above
	members := topLevel{values: map[string]string{}}
	n, err := io.Copy(io.MultiWriter(hash, &members), body)
	switch {
	case err != nil:
		return rec, err // the callers name the file
	case n < length:
		return rec, errTorn
	case hex.EncodeToString(hash.Sum(nil)) != sum:
		return rec, fmt.Errorf("%w: its checksum is wrong", errTorn)
	case members.depth != 0 || members.broken:
		return rec, fmt.Errorf("%w: its text is not JSON", errTorn)
	}
	rec = recordOf(members)
	rec.head, rec.size = line, int64(len(line))+length
	return rec, nil
}

func readHeader(r *bufio.Reader) (string, error) {
	line, err := r.Peek(maxHeader)
	if len(line) == 0 {
		return "", err
	}
	end := bytes.IndexByte(line, '\n')
	if end < 0 {
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return "", errTorn
	}
	text := string(line[:end+1])
	_, err = r.Discard(len(text))
	return text, err
}

func parseHeader(line string) (length int64, sum string, err error) {
	rest, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), recordLead)
	size, sum, both := strings.Cut(rest, " ")
	length, err = strconv.ParseInt(size, 10, 64)
	if !found || !both || err != nil || length <= 0 || len(sum) != 2*sha1.Size {
		return 0, "", fmt.Errorf("%w: invalid header", errTorn)
	}
	return length, strings.ToLower(sum), nil
}

// recordOf returns the record with the values of a JSON object. A value of the wrong type counts as missing.
func recordOf(object topLevel) logRecord {
	number := func(key string) uint64 {
		n, err := strconv.ParseUint(object.values[key], 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	r := logRecord{
		Index: number("index"), Term: number("term"), Commit: number("commit_index"),
		PrevIndex: number("prev_index"), PrevTerm: number("prev_term"),
		Vote: object.values["vote"], Note: object.values["note"], Server: object.values["server_id"],
		Address: object.values["local_address"], Cluster: object.values["cluster_id"], Name: object.values["name"],
	}
	if json.Unmarshal(object.servers, &r.Servers) != nil {
		r.Servers = nil
	}
	return r
}

// maxScalar bounds a stored key or value, in bytes. The longest useful value is an address
// with a host name of 253 bytes (RFC 1035, 2.3.4).
const maxScalar = 320

// maxObject bounds a stored object of addresses, in bytes.
const maxObject = 64 << 10

// topLevel is a Writer that finds the members of a JSON object. It keeps scalar values, and of the values that are
// objects only the servers. It accepts any text: after invalid JSON, broken is set or the depth is not 0.
type topLevel struct {
	// values are the scalar members; nil if they are not needed.
	values map[string]string
	// servers is the text of the member "servers", or "prev_servers".
	servers []byte
	// visit, if not nil, is called with each character and its place, except for characters deep in a string.
	visit         func(c byte, at int64)
	at            int64
	depth         int
	text, escaped bool
	broken        bool
	afterColon    bool
	key, value    []byte
	// inServers reports whether the current place is in the object that is being stored.
	inServers bool
}

// Write parses the next part of the text. It never fails.
func (t *topLevel) Write(part []byte) (int, error) {
	for i := 0; i < len(part); i++ {
		if t.text && t.depth > 1 && !t.escaped && !t.inServers {
			// In a string at this depth, only the end matters.
			skip := bytes.IndexAny(part[i:], "\"\\")
			if skip < 0 {
				break
			}
			i += skip
		}
		t.next(part[i], t.at+int64(i))
	}
	t.at += int64(len(part))
	return len(part), nil
}

func (t *topLevel) next(c byte, at int64) {
	if t.visit != nil {
		t.visit(c, at)
	}
	if c == '{' && !t.text && t.depth == 1 && t.afterColon &&
		(string(t.key) == "servers" || string(t.key) == "prev_servers") {
		t.inServers, t.servers = true, nil
	}
	if t.inServers && len(t.servers) < maxObject {
		t.servers = append(t.servers, c)
	}
	t.step(c)
	t.inServers = t.inServers && t.depth > 1
}

func (t *topLevel) step(c byte) {
	switch {
	case t.text && t.escaped:
		t.escaped = false
		t.keep(c)
	case t.text && c == '\\':
		t.escaped = true
	case t.text && c == '"':
		t.text = false
	case t.text:
		t.keep(c)
	case c == '"':
		t.text = true
	case c == '{' || c == '[':
		t.depth++
	case c == '}' || c == ']':
		if t.depth == 1 {
			t.member()
		}
		if t.depth--; t.depth < 0 {
			t.broken = true
		}
	case t.depth != 1:
	case c == ':':
		t.afterColon = true
	case c == ',':
		t.member()
	case c > ' ':
		t.keep(c)
	}
}

func (t *topLevel) keep(c byte) {
	if t.depth != 1 {
		return
	}
	if t.afterColon {
		if len(t.value) < maxScalar {
			t.value = append(t.value, c)
		}
	} else if len(t.key) < maxScalar {
		t.key = append(t.key, c)
	}
}

func (t *topLevel) member() {
	if t.values != nil && t.afterColon && len(t.value) > 0 {
		t.values[string(t.key)] = string(t.value)
	}
	t.key, t.value, t.afterColon = t.key[:0], t.value[:0], false
}
