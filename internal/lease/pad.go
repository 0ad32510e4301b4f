package lease

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// padBytes is the size of the padding. It exceeds what can be left of a file's last page: pages have 4 KiB. Larger
// pages are not supported. The text is incompressible, so that all of it has to be stored.
const padBytes = 8 << 10

// Padded is the record with a text that is longer than the rest of a file's last page. A server that stores it has
// space on the disk, while one with a full disk still accepts short writes. The text differs each time; the holder's
// next record has none.
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
