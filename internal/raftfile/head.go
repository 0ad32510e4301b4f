package raftfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ovn-central/ovn-central-operator/internal/ctxio"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Head is the description of a database in the first record of its file. It is read without ovsdb-tool: after a
// compaction the first record has the whole database, and each of db-name, db-sid, db-cid and db-local-address reads
// all of it into memory (7 s of processor time for 300 MiB in rows of 1 KiB, with OVS 3.1).
type Head struct {
	// Clustered is false for a standalone database. Then nothing else is set.
	Clustered     bool
	Name, Address string
	Server        raft.ID
	// Cluster is empty while the server has not joined yet.
	Cluster raft.ID
}

// ReadHead reads the first record of a file and checks its checksum. It keeps no data of the database.
func ReadHead(ctx context.Context, path string) (Head, error) {
	file, err := os.Open(path)
	if err != nil {
		return Head{}, fmt.Errorf("cannot read %s: %w", path, err)
	}
	defer file.Close()
	r := bufio.NewReaderSize(ctxio.NewReader(ctx, file), 256<<10)
	if lead, _ := r.Peek(len(recordLead)); string(lead) != recordLead {
		return Head{}, nil // a standalone database begins with its schema
	}
	rec, err := readRecord(r)
	h := Head{Clustered: true, Name: rec.Name, Address: rec.Address}
	if err == nil {
		h.Server, _ = raft.ParseID(rec.Server)
		h.Cluster, _ = raft.ParseID(rec.Cluster)
		if h.Server == "" {
			err = errors.New("its first record names no server")
		}
	}
	if err != nil {
		return Head{}, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return h, nil
}

// Cluster returns the cluster ID in the file of database d; empty if there is no file or its server has not joined
// yet. It reads only up to the ID and does not check the checksum: the server that the caller is about to start does
// that.
func Cluster(ctx context.Context, p ovndb.Paths, d ovndb.Database) (raft.ID, error) {
	file, err := os.Open(p.File(d))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil {
		defer file.Close()
		var id raft.ID
		if id, err = clusterOf(ctxio.NewReader(ctx, file)); err == nil {
			return id, nil
		}
	}
	return "", fmt.Errorf("cannot read %s: %w", p.File(d), err)
}

// clusterOf finds the cluster ID in the first record of a file.
func clusterOf(file io.Reader) (raft.ID, error) {
	r := bufio.NewReaderSize(file, 4<<10)
	line, err := readHeader(r)
	if err != nil {
		return "", err
	}
	length, _, err := parseHeader(line)
	if err != nil {
		return "", err
	}
	text := topLevel{values: map[string]string{}}
	body, chunk := io.LimitReader(r, length), make([]byte, 4<<10)
	for text.values["cluster_id"] == "" && err == nil {
		var n int
		n, err = body.Read(chunk)
		_, _ = text.Write(chunk[:n]) // it never fails
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	id, _ := raft.ParseID(text.values["cluster_id"])
	return id, nil
}
