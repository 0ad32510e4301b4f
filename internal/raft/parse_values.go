package raft

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// clusterUnknown is printed instead of the cluster's ID until a joining server learns it.
const clusterUnknown = "not yet known"

// maxMillis is the longest time.Duration, in milliseconds.
const maxMillis = uint64(math.MaxInt64 / time.Millisecond)

var errNotNumber = errors.New("not a number")

// readNumber accepts digits only, and no leading zero, which C's %u never prints.
func readNumber(v string) (uint64, error) {
	n, err := strconv.ParseUint(v, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errors.New("a number above 64 bits")
	case err != nil || len(v) > 1 && v[0] == '0':
		return 0, errNotNumber
	}
	return n, nil
}

func readMillis(v string) (time.Duration, error) {
	n, err := readNumber(v)
	if n > maxMillis {
		return 0, errors.New("more milliseconds than a duration holds")
	}
	return time.Duration(n) * time.Millisecond, err
}

func readWord(v string) (string, error) {
	if v == "" || strings.Contains(v, " ") {
		return "", errors.New("not one word")
	}
	return v, nil
}

func readOneOf[T ~string](v string, values ...T) (T, error) {
	if !slices.Contains(values, T(v)) {
		return "", errors.New("not a value that is known")
	}
	return T(v), nil
}

func readRef(v string) (Ref, error) {
	if r := Ref(v); r == Self || r == UnknownRef || IsIdentity(v) {
		return r, nil
	}
	return "", errors.New("not \"self\", \"unknown\" or four hex digits")
}

// readID reads a member's ID, for instance "a1b2 (a1b2c3d4-0000-4000-8000-000000000000)".
func readID(v string) (ID, error) {
	short, rest, _ := strings.Cut(v, " (")
	id, ok := strings.CutSuffix(rest, ")")
	if !ok || !IsIdentity(short) || !isUUID(id) {
		return "", errors.New("not four hex digits and a UUID in parentheses, in lower case")
	}
	if id[:4] != short {
		return "", errors.New("the UUID does not begin with the four digits before it")
	}
	return ID(id), nil
}

// readAddress accepts what raft_address_validate() in ovsdb/raft-private.c does, except "unix:": PROTO:HOST:PORT with
// an IPv6 address in brackets.
func readAddress(v string) (string, error) {
	protocol, hostPort, _ := strings.Cut(v, ":")
	if protocol != "tcp" && protocol != "ssl" {
		return "", fmt.Errorf("%q is not a \"tcp:\" or \"ssl:\" address", shorten(v))
	}
	colon := max(strings.LastIndexByte(hostPort, ':'), 0)
	host, port := hostPort[:colon], strings.TrimPrefix(hostPort[colon:], ":")
	forbidden := ":[]() "
	if inside, ok := cutAround(host, "[", "]"); ok {
		host, forbidden = inside, "[]() "
	}
	_, err := strconv.ParseUint(port, 10, 16)
	if err != nil || host == "" || strings.ContainsAny(host, forbidden) {
		return "", fmt.Errorf("%q is not PROTO:HOST:PORT", shorten(v))
	}
	return v, nil
}

func readConnection(item string) (Connection, error) {
	arrow, down := cutAround(item, "(", ")")
	if !down {
		arrow = item
	}
	peer, incoming := strings.CutPrefix(arrow, "<-")
	ok := incoming
	if !incoming {
		peer, ok = strings.CutPrefix(arrow, "->")
	}
	if !ok || !IsIdentity(peer) {
		return Connection{}, fmt.Errorf("%q is not a connection", shorten(item))
	}
	return Connection{Peer: peer, Incoming: incoming, Up: !down}, nil
}

func cutAround(v, before, after string) (inside string, ok bool) {
	if inside, ok = strings.CutPrefix(v, before); ok {
		inside, ok = strings.CutSuffix(inside, after)
	}
	return inside, ok
}

// IsIdentity reports whether text has the form of an identity: four hex digits in lower case. That is SID_FMT of
// ovsdb/raft-private.h, which raft_address_to_nickname() uses for every address but "unix:".
func IsIdentity(text string) bool { return len(text) == 4 && isHex(text) }

// ParseID parses a full ID: 36 characters in lower case. ok is false for anything else, including the all-zero ID of a
// server without an ID.
func ParseID(text string) (id ID, ok bool) {
	if !isUUID(text) || text == "00000000-0000-0000-0000-000000000000" {
		return "", false
	}
	return ID(text), true
}

// isUUID matches UUID_FMT of lib/uuid.h.
func isUUID(v string) bool {
	return len(v) == 36 && v[8] == '-' && v[13] == '-' && v[18] == '-' && v[23] == '-' &&
		isHex(v[:8]) && isHex(v[9:13]) && isHex(v[14:18]) && isHex(v[19:23]) && isHex(v[24:])
}

func isHex(v string) bool { return strings.Trim(v, "0123456789abcdef") == "" }
