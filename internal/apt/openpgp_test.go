package apt_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
)

// packets is what the key of the tests consists of: the key itself is the first 53 bytes.
func packets(t *testing.T) []byte {
	t.Helper()
	lines := strings.Split(armoured, "\n")
	data, err := base64.StdEncoding.DecodeString(strings.Join(lines[2:len(lines)-2], ""))
	require.NoError(t, err)
	return data
}

func armour(data []byte) string {
	return "-----BEGIN PGP PUBLIC KEY BLOCK-----\nComment: none\n\n" + base64.StdEncoding.EncodeToString(data) + "\n-----END PGP PUBLIC KEY BLOCK-----\n"
}

func TestKeyIsTheOneOfThatID(t *testing.T) {
	t.Parallel()
	all := packets(t)
	for _, id := range []string{armouredID, strings.ToLower(armouredID), armouredID[24:]} {
		require.NoError(t, apt.CheckKey(armoured, id), id)
		require.NoError(t, apt.CheckKey(strings.ReplaceAll(armoured, "\n", "\r\n"), id), id)
	}
	long := append([]byte{0xc6, 0xff, 0, 0, 0, all[1]}, all[2:]...) // the same packet with another form of length
	require.NoError(t, apt.CheckKey(armour(long), armouredID))
	secret := append([]byte{5<<2 | 0x80}, all[1:]...)
	sub := append([]byte{14<<2 | 0x80}, all[1:]...)
	other := append([]byte{}, all[:53]...)
	other[20] ^= 1
	for name, c := range map[string]struct{ text, want string }{
		"another key":        {armour(other), `it is the key "`},
		"a key before it":    {armour(append(append([]byte{}, other...), all...)), "it has several keys"},
		"a key behind it":    {armour(append(append([]byte{}, all...), other...)), "it has several keys"},
		"as a subkey only":   {armour(append(append([]byte{}, other...), sub...)), `it is the key "`},
		"a secret key":       {armour(secret), "it is a secret key"},
		"of another version": {armour(append([]byte{all[0], all[1], 3}, all[3:]...)), "it is no key of version 4"},
		"cut short":          {armour(all[:40]), "it is damaged"},
		"no packet":          {armour([]byte("hello")), "it is damaged"},
		"nothing in it":      {armour(nil), "it is the key \"\""},
		"no armour":          {"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n!\n-----END PGP PUBLIC KEY BLOCK-----", "its ASCII armour is damaged"},
		"one line":           {"-----BEGIN PGP PUBLIC KEY BLOCK-----", "it is the key \"\""},
	} {
		assert.ErrorContains(t, apt.CheckKey(c.text, armouredID), c.want, name)
	}
	for i := range all { // nothing of this panics
		_ = apt.CheckKey(armour(all[:i]), armouredID)
		_ = apt.CheckKey(armour(all[i:]), armouredID)
	}
}
