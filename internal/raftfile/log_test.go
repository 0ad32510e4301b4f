package raftfile_test

import (
	"crypto/sha1"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

const ownID = "7c1a7c1a-4b2d-4e3f-8a5b-6c7d8e9f0a1b"

// logHeader is the first record of a file whose snapshot ends with entry 1.
const logHeader = `{"server_id":"` + ownID + `","cluster_id":"c1000000-0000-4000-8000-000000000000",` +
	`"local_address":"tcp:127.0.0.1:6643","name":"OVN_Northbound","prev_index":1,"prev_term":1,` +
	`"prev_data":[{"cksum":"1 1","name":"OVN_Northbound","tables":{},"version":"7.0.0"},{}],` +
	`"prev_eid":"e1000000-0000-4000-8000-000000000000","prev_servers":{"` + ownID + `":"tcp:127.0.0.1:6643"}}`

func record(text string) string {
	text += "\n"
	return fmt.Sprintf("OVSDB CLUSTER %d %x\n%s", len(text), sha1.Sum([]byte(text)), text)
}

// entry has data with the names of other members, and a text that looks like the end of the object.
func entry(index, term int) string {
	const ids = `{"external_ids":["map",[["index","{\"index\":9"],["}","\\"]]]}`
	return record(fmt.Sprintf(`{"data":[null,{"DNS":{"index":`+ids+`}}],`+
		`"eid":"e1000000-0000-4000-8000-000000000001","index":%d,"term":%d}`, index, term))
}

func commit(index int) string { return record(fmt.Sprintf(`{"commit_index":%d}`, index)) }

func vote(term int, id byte) string {
	return record(fmt.Sprintf(`{"term":%d,"vote":"%c%s"}`, term, id, ownID[1:]))
}

type logFile struct {
	paths ovndb.Paths
	path  string
}

func newLogFile(t *testing.T) logFile {
	dir := t.TempDir()
	paths := ovndb.Paths{Run: dir, DB: dir}
	return logFile{paths, paths.File(ovndb.NB)}
}

func (f logFile) write(t *testing.T, records ...string) {
	t.Helper()
	require.NoError(t, os.WriteFile(f.path, []byte(strings.Join(records, "")), 0o600))
}

func (f logFile) append(t *testing.T, text string) {
	t.Helper()
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

func (f logFile) log(t *testing.T) raftfile.Log {
	t.Helper()
	log, err := raftfile.ReadLog(t.Context(), f.paths, ovndb.NB)
	require.NoError(t, err)
	return log
}

// endsAt requires that the log is intact, and has this end.
func (f logFile) endsAt(t *testing.T, end uint64) {
	t.Helper()
	log := f.log(t)
	require.Equal(t, end, log.End)
	require.Empty(t, log.Damage)
	require.False(t, log.Outside)
}

// ReadLog judges a log as a server does at its start.
func TestReadLog(t *testing.T) {
	t.Parallel()
	others := []string{record(`{"note":"index"}`), record(`{"term":7}`), record(`{"leader":"` + ownID + `","term":7}`)}
	for name, c := range map[string]struct {
		records []string
		end     uint64
		damage  int // the damaged record; 0 if there is none
	}{
		"created":             {nil, 2, 0},
		"entries":             {[]string{entry(2, 1), entry(3, 1), commit(3)}, 4, 0},
		"missing_entry":       {[]string{entry(2, 1), entry(4, 1)}, 3, 2},
		"missing_committed":   {[]string{entry(2, 1), commit(3)}, 3, 2},
		"missing_first":       {[]string{commit(2)}, 2, 1},
		"replaced":            {[]string{entry(2, 1), entry(3, 1), entry(4, 1), entry(3, 2)}, 4, 0},
		"replaced_committed":  {[]string{entry(2, 1), entry(3, 1), commit(3), entry(2, 2)}, 4, 4},
		"older_term":          {[]string{entry(2, 5), entry(3, 4)}, 3, 2},
		"term_after_replaced": {[]string{entry(2, 1), entry(3, 5), entry(3, 4), entry(4, 4)}, 5, 0},
		"commit_goes_back":    {[]string{entry(2, 1), entry(3, 1), commit(3), commit(2)}, 4, 4},
		"votes":               {[]string{vote(2, 'a'), entry(2, 2), vote(3, 'b')}, 3, 0},
		"two_votes":           {[]string{vote(2, 'a'), vote(2, 'b')}, 2, 2},
		"vote_for_past_term":  {[]string{vote(4, 'a'), vote(2, 'b')}, 2, 2},
		"other_records":       {others, 2, 0},
		"unreadable":          {[]string{entry(2, 1), strings.Replace(entry(3, 1), "DNS", "DXS", 1), entry(4, 1)}, 3, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newLogFile(t)
			f.write(t, append([]string{record(logHeader)}, c.records...)...)
			for range 2 { // the second call reads nothing
				log := f.log(t)
				if c.damage == 0 {
					assert.Empty(t, log.Damage)
				} else {
					assert.Contains(t, log.Damage, fmt.Sprintf("record %d", c.damage))
				}
				assert.Equal(t, c.end, log.End)
			}
		})
	}
}

func TestReadLog_appended_and_replaced(t *testing.T) {
	t.Parallel()
	f := newLogFile(t)
	f.write(t, record(logHeader), entry(2, 1))
	f.endsAt(t, 3)

	next := entry(3, 1)
	f.append(t, next[:len(next)-5])
	f.endsAt(t, 3)
	f.append(t, next[len(next)-5:])
	f.endsAt(t, 4)

	// The server truncated a record after a failed write.
	f.append(t, entry(4, 1)[:40])
	f.endsAt(t, 4)
	require.NoError(t, os.Truncate(f.path, int64(len(record(logHeader)+entry(2, 1)+next))))
	f.append(t, entry(5, 1))
	assert.Contains(t, f.log(t).Damage, "record 3")

	// A compaction replaces the file.
	snapshot := strings.Replace(logHeader, `"prev_index":1`, `"prev_index":5`, 1)
	require.NoError(t, os.Rename(f.path, f.path+".old"))
	f.write(t, record(snapshot), entry(6, 1), commit(6))
	f.endsAt(t, 7)

	// Another file has the same inode.
	snapshot = strings.Replace(snapshot, `"prev_index":5`, `"prev_index":7`, 1)
	f.write(t, record(snapshot), entry(8, 1), entry(9, 1), entry(10, 1))
	f.endsAt(t, 11)

	// The server may also truncate a whole record.
	require.NoError(t, os.Truncate(f.path, int64(len(record(snapshot)+entry(8, 1)))))
	f.endsAt(t, 9)
}

// Otherwise each hook would wait for seconds if the file has 500 MiB.
func TestReadLog_reads_appended_part_only(t *testing.T) {
	t.Parallel()
	f := newLogFile(t)
	f.write(t, record(logHeader), entry(2, 1), entry(3, 1))
	f.endsAt(t, 4)

	// The change of an old record shows whether the record is read again.
	file, err := os.OpenFile(f.path, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteAt([]byte("different"), int64(len(record(logHeader)+entry(2, 1))-20))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	f.append(t, entry(4, 1)+commit(4))
	f.endsAt(t, 5)

	require.NoError(t, os.Remove(f.paths.Run+"/ovnnb_db.log-scan"))
	assert.Contains(t, f.log(t).Damage, "record 1")
}

// The newest configuration counts, committed or not, as in raft_read_log() of ovsdb/raft.c.
func TestReadLog_outside(t *testing.T) {
	t.Parallel()
	members := func(index int, ids ...string) string {
		text := strings.Join(ids, `":"ssl:[::1]:6643","`)
		return record(fmt.Sprintf(`{"index":%d,"servers":{"%s":"tcp:127.0.0.1:6643"},"term":1}`, index, text))
	}
	const other = "8c1a7c1a-4b2d-4e3f-8a5b-6c7d8e9f0a1b"
	const joining = `{"server_id":"` + ownID + `","remote_addresses":["tcp:127.0.0.2:6643"],` +
		`"local_address":"tcp:127.0.0.1:6643","name":"OVN_Northbound"}`
	inData := strings.ReplaceAll(entry(2, 1), "DNS", "prev_servers")
	for name, c := range map[string]struct {
		records []string
		outside bool
	}{
		"member":            {[]string{record(logHeader), members(2, other, ownID), entry(3, 1)}, false},
		"removed":           {[]string{record(logHeader), members(2, other), entry(3, 1)}, true},
		"replaced_removal":  {[]string{record(logHeader), members(2, other, ownID), members(3, other), entry(3, 2)}, false},
		"committed_removal": {[]string{record(logHeader), members(2, other), commit(2), entry(3, 1)}, true},
		"member_again":      {[]string{record(logHeader), members(2, other), commit(2), members(3, ownID)}, false},
		"not_in_snapshot":   {[]string{record(strings.ReplaceAll(logHeader, `{"`+ownID, `{"`+other)), entry(2, 1)}, true},
		"joining":           {[]string{record(joining)}, false},
		"same_name_in_data": {[]string{record(logHeader), inData}, false},
	} {
		f := newLogFile(t)
		f.write(t, c.records...)
		assert.Equal(t, c.outside, f.log(t).Outside, name)
		f.write(t, c.records[:1]...) // and in two reads
		f.log(t)
		for _, text := range c.records[1:] {
			f.append(t, text)
		}
		assert.Equal(t, c.outside, f.log(t).Outside, name)
	}
}

func TestUnread(t *testing.T) {
	f := newLogFile(t)
	assert.Zero(t, raftfile.Unread(f.paths, ovndb.NB))
	f.write(t, record(logHeader), entry(2, 1))
	whole := int64(len(record(logHeader) + entry(2, 1)))
	assert.Equal(t, whole, raftfile.Unread(f.paths, ovndb.NB))
	_, err := raftfile.ReadLog(t.Context(), f.paths, ovndb.NB)
	require.NoError(t, err)
	assert.Zero(t, raftfile.Unread(f.paths, ovndb.NB))
	f.append(t, entry(3, 1))
	assert.Equal(t, int64(len(entry(3, 1))), raftfile.Unread(f.paths, ovndb.NB))
	require.NoError(t, os.Remove(f.path))
	f.write(t, record(logHeader+" "), entry(2, 1))
	assert.Equal(t, whole+1, raftfile.Unread(f.paths, ovndb.NB), "another file")
}
