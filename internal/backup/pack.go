package backup

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/ctxio"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/machine"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// digests has a copy's unpacked size in bytes and its checksum, and the packed file's checksum.
type digests struct {
	size          int64
	plain, packed string
}

// pack compresses the file from into a new file, in parts.
func pack(ctx context.Context, from, to string) (digests, error) {
	in, err := os.Open(from)
	if err != nil {
		return digests{}, fmt.Errorf("cannot compress the copy: %w", err)
	}
	defer func() { _ = in.Close() }() // the file is only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return digests{}, fmt.Errorf("cannot compress the copy: %w", err)
	}
	var size int64
	plain, packed := sha256.New(), sha256.New()
	zip, err := gzip.NewWriterLevel(io.MultiWriter(out, packed), gzip.BestSpeed)
	if err == nil {
		size, err = io.Copy(io.MultiWriter(zip, plain), ctxio.NewReader(ctx, in))
		err = errors.Join(err, zip.Close(), out.Sync())
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return digests{}, fmt.Errorf("cannot compress the copy: %w", err)
	}
	return digests{size, text(plain), text(packed)}, nil
}

func text(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// unpack reads a compressed file into a new one, or only reads it if to is empty. It fails if the content is longer
// than most bytes. After a failure it leaves nothing behind.
func unpack(ctx context.Context, from, to string, most int64) (found digests, err error) {
	in, err := openRegular(from)
	if err != nil {
		return digests{}, fmt.Errorf("cannot unpack the copy: %w", err)
	}
	defer func() { _ = in.Close() }() // the file is only read
	plain, packed := sha256.New(), sha256.New()
	zip, err := gzip.NewReader(bufio.NewReader(io.TeeReader(ctxio.NewReader(ctx, in), packed)))
	if err != nil {
		return digests{}, fmt.Errorf("cannot unpack %s: %w", from, err)
	}
	sinks := []io.Writer{plain}
	var out *os.File
	if to != "" {
		if out, err = create(to); err != nil {
			return digests{}, fmt.Errorf("cannot unpack the copy: %w", err)
		}
		sinks = append(sinks, out)
	}
	size, err := io.Copy(io.MultiWriter(sinks...), io.LimitReader(zip, most+1))
	if out != nil {
		err = errors.Join(err, out.Sync(), out.Close())
	}
	if err == nil && size > most {
		err = finding.Reason{Code: finding.HoldsMore, Count: int(most)}.Err()
	}
	if err != nil {
		if out != nil {
			err = errors.Join(err, os.Remove(to))
		}
		return digests{}, fmt.Errorf("cannot unpack %s: %w", from, err)
	}
	return digests{size, text(plain), text(packed)}, nil // read to its end
}

// create makes a new file. It replaces a file that an earlier process may have left.
func create(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// Unpack unpacks the copy of database d in the backup at path to the file to, or only reads it if to is empty. It
// checks the copy's checksums.
func Unpack(ctx context.Context, path string, m Manifest, d ovndb.Database, to string) error {
	x, err := m.Of(d)
	if err != nil {
		return err
	}
	packed := filepath.Join(path, x.File)
	found, err := unpack(ctx, packed, to, x.Size)
	switch {
	case err != nil:
	case found.size != x.Size || found.plain != x.SHA256:
		err = finding.Reason{
			Code: finding.HoldsOther, Name: packed, Value: found.plain, Count: int(found.size), Total: int(x.Size),
			Because: []finding.Reason{finding.Quote(x.SHA256)},
		}.Err()
	case found.packed != x.Packed:
		err = wrongChecksum(packed, found.packed, x.Packed)
	}
	return err
}

// wrongChecksum returns the error of a file whose checksum is not the one that the manifest says.
func wrongChecksum(file, is, says string) error {
	return finding.Reason{
		Code: finding.WrongChecksum, Name: file, Value: is, Because: []finding.Reason{finding.Quote(says)},
	}.Err()
}

// A backup's needs in relation to the size of the databases' files. Measured with OVS 3.1: ovsdb-tool, which loads
// the copy, takes 2.4 times the size if rows have 1 KiB, 5.4 times if they have 300 bytes, as in OVN, and 12 times if
// they have 100 bytes. The disk has one unpacked copy at a time, besides both compressed copies.
const (
	memoryFactor = 8
	spare        = 64 << 20 // bytes left for everything else
)

func (s *Service) room(dir string) error {
	var sizes []int64
	for _, d := range ovndb.Databases() {
		sizes = append(sizes, raftfile.Size(s.Files.Paths.File(d)))
	}
	free, err := machine.FreeSpace(dir)
	if err != nil {
		return err
	}
	available, known := machine.AvailableMemory()
	if !known {
		available = math.MaxInt64
	}
	return checkNeeds(dir, free, available, sizes...)
}

// checkNeeds returns an error if the free space or the available memory is too small for databases whose files have
// these sizes. All values are in bytes.
func checkNeeds(dir string, free, available int64, sizes ...int64) error {
	if need := machine.CopySpace(sizes...) + spare; free < need {
		return fmt.Errorf("cannot back up: %s has %d MiB free, it takes %d; give path= on a larger disk", dir, free>>20,
			need>>20)
	}
	if need := memoryFactor*slices.Max(sizes) + spare; available < need {
		return fmt.Errorf("cannot back up: %d MiB of memory are available, it may take %d; back up on another unit",
			available>>20, need>>20)
	}
	return nil
}
