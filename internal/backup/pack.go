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
	"os"
	"path/filepath"

	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// pack compresses the file from into a new file, and says how large from is and what its
// checksum is. It reads and writes a part at a time.
func pack(ctx context.Context, from, to string) (size int64, sum string, err error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, "", fmt.Errorf("cannot compress the copy: %w", err)
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, "", fmt.Errorf("cannot compress the copy: %w", err)
	}
	zip, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err == nil {
		digest := sha256.New()
		size, err = io.Copy(io.MultiWriter(zip, digest), &untilDone{ctx, in})
		err = errors.Join(err, zip.Close(), out.Sync())
		sum = text(digest)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return 0, "", fmt.Errorf("cannot compress the copy: %w", err)
	}
	return size, sum, nil
}

func text(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// unpack reads a compressed file into a new one, or only reads it where to is empty.
func unpack(ctx context.Context, from, to string) (size int64, sum string, err error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, "", fmt.Errorf("cannot unpack the copy: %w", err)
	}
	defer func() { _ = in.Close() }() // it was only read
	zip, err := gzip.NewReader(bufio.NewReader(&untilDone{ctx, in}))
	if err != nil {
		return 0, "", fmt.Errorf("cannot unpack %s: %w", from, err)
	}
	digest := sha256.New()
	sinks := []io.Writer{digest}
	var out *os.File
	if to != "" {
		if out, err = os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
			return 0, "", fmt.Errorf("cannot unpack the copy: %w", err)
		}
		sinks = append(sinks, out)
	}
	size, err = io.Copy(io.MultiWriter(sinks...), zip) //nolint:gosec // its size is bounded by what the unit itself has packed, and by the disk
	if out != nil {
		err = errors.Join(err, out.Sync(), out.Close())
	}
	if err != nil {
		return 0, "", fmt.Errorf("cannot unpack %s: %w", from, err)
	}
	return size, text(digest), nil
}

// Unpack writes the copy of database d in the backup path to the file to, or only reads it
// where to is empty, and makes sure that it is what was packed.
func Unpack(ctx context.Context, path string, m Manifest, d ovndb.Database, to string) error {
	x, err := m.Of(d)
	if err != nil {
		return err
	}
	packed := filepath.Join(path, x.File)
	size, sum, err := unpack(ctx, packed, to)
	if err == nil && (size != x.Size || sum != x.SHA256) {
		err = fmt.Errorf("%s is damaged: it holds %d bytes with SHA-256 %s, its manifest says %d and %s", packed, size, sum, x.Size, x.SHA256)
	}
	return err
}

// untilDone is a reader that ends with a context.
type untilDone struct {
	ctx context.Context //nolint:containedctx // it is the reader's whole purpose
	in  io.Reader
}

// Read reads, unless the context has ended.
func (u *untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.in.Read(p)
}

// What a backup needs, next to the size of the databases' files. Measured with 80 MiB on
// OVS 3.1: ovsdb-client's backup takes 2.4 times the size, a load 1.5 times; many small
// rows take more. On the disk stands one copy as it is, besides both compressed.
const (
	memoryFactor = 5
	spare        = 64 << 20 // bytes that are left for everything else
)

// room says why there is not enough space on the disk, or memory, for a backup.
func (s *Service) room(dir string) error {
	var total, largest int64
	for _, d := range ovndb.Databases() {
		size := ovn.FileSize(s.Files.Paths, d)
		total, largest = total+size, max(largest, size)
	}
	free, err := ovn.FreeSpace(dir)
	if err != nil {
		return err
	}
	if need := total + largest + spare; free < need {
		return fmt.Errorf("cannot back up: %s has %d MiB free, it takes %d; give path= on a larger disk", dir, free>>20, need>>20)
	}
	if available, known := ovn.AvailableMemory(); known && available < memoryFactor*largest+spare {
		return fmt.Errorf("cannot back up: %d MiB of memory are available, it may take %d; back up on another unit", available>>20, (memoryFactor*largest+spare)>>20)
	}
	return nil
}
