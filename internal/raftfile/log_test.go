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
const logHeader = `{"server_id":"` + ownID + `","cluster_id":"c1000000-0000-4000-8000-000000000000","local_address":"tcp:127.0.0.1:6643",` +
	`"name":"OVN_Northbound","prev_index":1,"prev_term":1,"prev_data":[{"cksum":"1 1","name":"OVN_Northbound","tables":{},"version":"7.0.0"},{}],` +
	`"prev_eid":"e1000000-0000-4000-8000-000000000000","prev_servers":{"` + ownID + `":"tcp:127.0.0.1:6643"}}`

func record(text string) string {
	text += "\n"
	return fmt.Sprintf("OVSDB CLUSTER %d %x\n%s", len(text), sha1.Sum([]byte(text)), text)
}

// entry has data with the names of other members in it, and a text that ends where
// a careless reader would think that the object does.
func entry(index, term int) string {
	return record(fmt.Sprintf(`{"data":[null,{"DNS":{"index":{"external_ids":["map",[["index","{\"index\":9"],["}","\\"]]]}}}],`+
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

func TestLogOfAFileIsJudgedAsAServerWouldWhenItStarts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		records []string
		end     uint64
		damage  string
	}{
		"as created":                         {nil, 2, ""},
		"entries in a row":                   {[]string{entry(2, 1), entry(3, 1), commit(3)}, 4, ""},
		"an entry is missing":                {[]string{entry(2, 1), entry(4, 1)}, 3, "record 2 has entry 4, but the one before it is 2"},
		"what is committed is missing":       {[]string{entry(2, 1), commit(3)}, 3, "record 2 advances the commit index to 3, but the last entry is 2"},
		"the first is missing":               {[]string{commit(2)}, 2, "record 1 advances the commit index to 2, but the last entry is 1"},
		"a new leader takes back":            {[]string{entry(2, 1), entry(3, 1), entry(4, 1), entry(3, 2)}, 4, ""},
		"what is committed is taken back":    {[]string{entry(2, 1), entry(3, 1), commit(3), entry(2, 2)}, 4, "record 4 takes entry 2 back, but 3 is committed"},
		"older terms come later":             {[]string{entry(2, 5), entry(3, 4)}, 3, "record 2 has entry 3 of term 4 behind one of term 5"},
		"terms after something taken back":   {[]string{entry(2, 1), entry(3, 5), entry(3, 4), entry(4, 4)}, 5, ""},
		"commit goes back":                   {[]string{entry(2, 1), entry(3, 1), commit(3), commit(2)}, 4, "record 4 takes the commit index back from 3 to 2"},
		"votes":                              {[]string{vote(2, 'a'), entry(2, 2), vote(3, 'b')}, 3, ""},
		"votes twice":                        {[]string{vote(2, 'a'), vote(2, 'b')}, 2, "record 2 votes a second time in term 2"},
		"votes in the past":                  {[]string{vote(4, 'a'), vote(2, 'b')}, 2, "record 2 votes for term 2, but the term is 4 already"},
		"what is no entry has no part in it": {[]string{record(`{"note":"index"}`), record(`{"term":7}`), record(`{"leader":"` + ownID + `","term":7}`)}, 2, ""},
		"something can't be read": {
			[]string{entry(2, 1), strings.Replace(entry(3, 1), "DNS", "DXS", 1), entry(4, 1)},
			3,
			"record 2, at byte 688, can't be read, and others follow it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newLogFile(t)
			f.write(t, append([]string{record(logHeader)}, c.records...)...)
			log := f.log(t)
			assert.Equal(t, c.damage, log.Damage)
			assert.Equal(t, c.end, log.End)
			assert.False(t, log.Torn)
			assert.Equal(t, log, f.log(t), "what was found stays found")
		})
	}
}

func TestOnlyWhatWasAppendedIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	f := newLogFile(t)
	f.write(t, record(logHeader), entry(2, 1))
	require.Equal(t, raftfile.Log{End: 3}, f.log(t))

	next := entry(3, 1)
	f.append(t, next[:len(next)-5])
	assert.Equal(t, raftfile.Log{End: 3, Torn: true}, f.log(t), "it is being written")
	f.append(t, next[len(next)-5:])
	assert.Equal(t, raftfile.Log{End: 4}, f.log(t))

	// A write that failed was taken back.
	f.append(t, entry(4, 1)[:40])
	require.True(t, f.log(t).Torn)
	require.NoError(t, os.Truncate(f.path, int64(len(record(logHeader)+entry(2, 1)+next))))
	f.append(t, entry(5, 1))
	log := f.log(t)
	assert.Equal(t, "record 3 has entry 5, but the one before it is 3", log.Damage)

	// Compacted: another file in its place, which is longer.
	snapshot := strings.Replace(logHeader, `"prev_index":1`, `"prev_index":5`, 1)
	require.NoError(t, os.Rename(f.path, f.path+".old"))
	f.write(t, record(snapshot), entry(6, 1), commit(6))
	assert.Equal(t, raftfile.Log{End: 7}, f.log(t))

	// The same inode, as a file system gives it again, with something else in it.
	f.write(t, record(strings.Replace(snapshot, `"prev_index":5`, `"prev_index":7`, 1)), entry(8, 1), entry(9, 1), entry(10, 1))
	assert.Equal(t, raftfile.Log{End: 11}, f.log(t))

	// A whole record can be taken back too.
	require.NoError(t, os.Truncate(f.path, int64(len(record(snapshot)+entry(8, 1)))))
	assert.Equal(t, raftfile.Log{End: 9}, f.log(t))
}

// With a file of 500 MiB each hook would wait for seconds.
func TestWhatWasLookedAtIsNotReadAgain(t *testing.T) {
	t.Parallel()
	f := newLogFile(t)
	f.write(t, record(logHeader), entry(2, 1), entry(3, 1))
	require.Equal(t, raftfile.Log{End: 4}, f.log(t))

	// As no server does: so it shows whether the log was read.
	file, err := os.OpenFile(f.path, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteAt([]byte("looked at"), int64(len(record(logHeader)+entry(2, 1))-20))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	f.append(t, entry(4, 1)+commit(4))
	require.Equal(t, raftfile.Log{End: 5}, f.log(t))

	require.NoError(t, os.Remove(f.paths.Run+"/ovnnb_db.log-scan"))
	assert.Contains(t, f.log(t).Damage, "record 1, at byte", "where it isn't known what was looked at, all is")
}

// By the newest members, committed or not, as raft_read_log() in ovsdb/raft.c takes them.
func TestServerThatIsOutsideOfItsFilesMembersIsSeen(t *testing.T) {
	t.Parallel()
	members := func(index int, ids ...string) string {
		text := strings.Join(ids, `":"ssl:[::1]:6643","`)
		return record(fmt.Sprintf(`{"index":%d,"servers":{"%s":"tcp:127.0.0.1:6643"},"term":1}`, index, text))
	}
	const other = "8c1a7c1a-4b2d-4e3f-8a5b-6c7d8e9f0a1b"
	inData := strings.ReplaceAll(entry(2, 1), "DNS", "prev_servers")
	for name, c := range map[string]struct {
		records []string
		outside bool
	}{
		"a member":                          {[]string{record(logHeader), members(2, other, ownID), entry(3, 1)}, false},
		"no longer a member":                {[]string{record(logHeader), members(2, other), entry(3, 1)}, true},
		"a removal that was taken back":     {[]string{record(logHeader), members(2, other, ownID), members(3, other), entry(3, 2)}, false},
		"a removal that is committed":       {[]string{record(logHeader), members(2, other), commit(2), entry(3, 1)}, true},
		"a member again":                    {[]string{record(logHeader), members(2, other), commit(2), members(3, ownID)}, false},
		"a snapshot that it is not in":      {[]string{record(strings.ReplaceAll(logHeader, `{"`+ownID, `{"`+other)), entry(2, 1)}, true},
		"one that is yet to join":           {[]string{record(`{"server_id":"` + ownID + `","remote_addresses":["tcp:127.0.0.2:6643"],"local_address":"tcp:127.0.0.1:6643","name":"OVN_Northbound"}`)}, false},
		"another object with the same name": {[]string{record(logHeader), inData}, false},
	} {
		f := newLogFile(t)
		f.write(t, c.records...)
		assert.Equal(t, c.outside, f.log(t).Outside, name)
		f.write(t, c.records[:1]...) // and what was appended since, by itself
		f.log(t)
		for _, text := range c.records[1:] {
			f.append(t, text)
		}
		assert.Equal(t, c.outside, f.log(t).Outside, "%s, in two looks", name)
	}
}

// What is read every few seconds is short, but behind a compaction.
func TestUnreadIsWhatWasAppendedSinceTheLastLook(t *testing.T) {
	f := newLogFile(t)
	assert.Zero(t, raftfile.Unread(f.paths, ovndb.NB), "there is no file")
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
