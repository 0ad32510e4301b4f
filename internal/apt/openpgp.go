package apt

import (
	"crypto/sha1" //nolint:gosec // OpenPGP's fingerprint of a key of version 4 is one
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Tags of packets (RFC 9580, section 5).
const (
	secretKeyPacket = 5
	publicKeyPacket = 6
)

// checkKey returns an error unless the text is exactly one OpenPGP public key with this fingerprint or long ID. It
// refuses further keys, since apt would trust each of them. The ID of a subkey does not count, since a subkey can be
// copied beside another key.
func checkKey(armoured, id string) error {
	packets, err := dearmour(armoured)
	if err != nil {
		return err
	}
	var found string
	for len(packets) > 0 {
		tag, body, rest, err := nextPacket(packets)
		if err != nil {
			return err
		}
		packets = rest
		switch {
		case tag == secretKeyPacket:
			return errors.New("it is a secret key")
		case tag != publicKeyPacket:
		case found != "":
			return errors.New("it has several keys")
		case len(body) == 0 || len(body) > 1<<16-1 || body[0] != 4:
			return errors.New("it is no key of version 4")
		default:
			head := binary.BigEndian.AppendUint16([]byte{0x99}, uint16(len(body)))
			sum := sha1.Sum(append(head, body...)) //nolint:gosec // see above
			found = strings.ToUpper(hex.EncodeToString(sum[:]))
		}
	}
	if found == "" || !strings.HasSuffix(found, strings.ToUpper(id)) {
		return fmt.Errorf("it is the key %q, not that one", found)
	}
	return nil
}

// dearmour decodes one block of ASCII armour (RFC 9580, section 6.2).
func dearmour(text string) ([]byte, error) {
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), "\n")
	var data strings.Builder
	body := false
	for _, line := range lines[1:max(len(lines)-1, 1)] {
		line = strings.TrimSpace(line)
		switch {
		case !body:
			body = line == "" // headers end with an empty line
		case !strings.HasPrefix(line, "="): // the checksum
			data.WriteString(line)
		}
	}
	packets, err := base64.StdEncoding.DecodeString(data.String())
	if err != nil {
		return nil, errors.New("its ASCII armour is damaged")
	}
	return packets, nil
}

// nextPacket cuts off the first packet (RFC 9580, section 4.2). It refuses partial and unknown lengths, which keys
// don't have.
func nextPacket(data []byte) (tag byte, body, rest []byte, err error) {
	damaged := errors.New("it is damaged")
	first, data := data[0], data[1:]
	var size int
	switch length := first & 3; {
	case first&0x80 == 0:
		return 0, nil, nil, damaged
	case first&0x40 != 0:
		tag = first & 0x3f
		switch {
		case len(data) == 0:
			return 0, nil, nil, damaged
		case data[0] < 192:
			size, data = int(data[0]), data[1:]
		case data[0] < 224 && len(data) > 1:
			size, data = (int(data[0])-192)<<8+int(data[1])+192, data[2:]
		case data[0] == 255 && len(data) > 4:
			size, data = int(binary.BigEndian.Uint32(data[1:])), data[5:]
		default:
			return 0, nil, nil, damaged
		}
	case length == 3 || len(data) < 1<<length:
		return 0, nil, nil, damaged
	default:
		tag = first >> 2 & 0xf
		for _, b := range data[:1<<length] {
			size = size<<8 | int(b)
		}
		data = data[1<<length:]
	}
	if size > len(data) {
		return 0, nil, nil, damaged
	}
	return tag, data[:size], data[size:], nil
}
