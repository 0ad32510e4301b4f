package lease

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// padBytes is more than what can be left of the last page of a file: pages have 4 KiB,
// file systems of larger ones are not looked for. It is what has to be stored, in
// bytes, of a text that can't be made shorter.
const padBytes = 8 << 10

// Padded is the record with a text in it that is longer than what is left of a file's
// last page: a server that stores it has space on the disk, while a full one still takes what
// is short. The text is another one each time. The next record of the holder is without.
func (r Record) Padded() Record {
	var seed [16]byte
	binary.BigEndian.PutUint64(seed[:8], r.Term)
	binary.BigEndian.PutUint64(seed[8:], r.Sequence)
	block := sha256.Sum256(seed[:])
	pad := make([]byte, 0, padBytes+len(block))
	for len(pad) < padBytes {
		pad = append(pad, block[:]...)
		block = sha256.Sum256(block[:])
	}
	r.Pad = base64.RawStdEncoding.EncodeToString(pad)
	return r
}
