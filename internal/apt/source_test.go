package apt_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/apt"
)

var (
	jammy    = apt.OS{ID: "ubuntu", VersionID: "22.04", Codename: "jammy"}
	noble    = apt.OS{ID: "ubuntu", VersionID: "24.04", Codename: "noble"}
	focal    = apt.OS{ID: "ubuntu", VersionID: "20.04", Codename: "focal"}
	bookworm = apt.OS{ID: "debian", VersionID: "12", Codename: "bookworm"}
)

// armoured is the key of Debian's stable releases for bookworm, and armouredID its fingerprint.
const (
	armouredID = "4D64FEC119C2029067D6E791F8D2585B8783D481"
	armoured   = `-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEY865UxYJKwYBBAHaRw8BAQdAd7Z0srwuhlB6JKFkcf4HU4SSS/xcRfwEQWzr
crf6AEq0SURlYmlhbiBTdGFibGUgUmVsZWFzZSBLZXkgKDEyL2Jvb2t3b3JtKSA8
ZGViaWFuLXJlbGVhc2VAbGlzdHMuZGViaWFuLm9yZz6IlgQTFggAPhYhBE1k/sEZ
wgKQZ9bnkfjSWFuHg9SBBQJjzrlTAhsDBQkPCZwABQsJCAcCBhUKCQgLAgQWAgMB
Ah4BAheAAAoJEPjSWFuHg9SBSgwBAP9qpeO5z1s5m4D4z3TcqDo1wez6DNya27QW
WoG/4oBsAQCEN8Z00DXagPHbwrvsY2t9BCsT+PgnSn9biobwX7bDDg==
=5NZE
-----END PGP PUBLIC KEY BLOCK-----`
)

func pocket(file, suite string) apt.Source {
	return apt.Source{
		Keyring: "ubuntu-cloud-keyring", File: file,
		Line: "deb http://ubuntu-cloud.archive.canonical.com/ubuntu " + suite + " main",
	}
}

// What apt makes of these files is not shown here: the cloud archive can't be reached.
func TestParseSource(t *testing.T) {
	t.Parallel()
	line := func(line string) apt.Source { return apt.Source{File: "ovn-central-", Line: line} }
	withKey, withID := line("deb http://example.com bookworm main"), line("deb https://example.com jammy main")
	lineOf := map[string]string{} // by file: another line has another file
	withKey.Key, withID.KeyID = armoured+"\n", "5EDB1B62EC4926EA"
	for _, test := range []struct {
		release apt.OS
		value   string
		want    apt.Source
	}{
		{jammy, "", apt.Source{}},
		{bookworm, " distro\n", apt.Source{}},
		{noble, "caracal", apt.Source{}},
		{jammy, "yoga", apt.Source{}},
		{jammy, "caracal", pocket("cloud-archive.list", "jammy-updates/caracal")},
		{focal, "yoga", pocket("cloud-archive.list", "focal-updates/yoga")},
		{jammy, "caracal/proposed", pocket("cloud-archive.list", "jammy-proposed/caracal")},
		{jammy, "cloud:jammy-caracal", pocket("cloud-archive.list", "jammy-updates/caracal")},
		{jammy, "cloud:caracal", pocket("cloud-archive.list", "jammy-updates/caracal")},
		{noble, "cloud:noble-epoxy/updates", pocket("cloud-archive.list", "noble-updates/epoxy")},
		{jammy, "cloud:jammy-antelope/proposed", pocket("cloud-archive.list", "jammy-proposed/antelope")},
		{focal, "cloud:focal-ovn-22.03", pocket("cloud-archive-ovn.list", "focal-updates/ovn-22.03")},
		{focal, "cloud:focal-ovn-22.03/proposed", pocket("cloud-archive-ovn.list", "focal-proposed/ovn-22.03")},
		{jammy, "cloud:jammy-bobcat/staging", apt.Source{Repository: "ppa:ubuntu-cloud-archive/bobcat-staging"}},
		{jammy, "ppa:someone/ovn-22.03", apt.Source{Repository: "ppa:someone/ovn-22.03"}},
		{bookworm, "deb http://example.com bookworm main extra", line("deb http://example.com bookworm main extra")},
		{jammy, "deb  [arch=amd64] http://a {series}-ovn main", line("deb [arch=amd64] http://a jammy-ovn main")},
		{bookworm, "deb http://example.com bookworm main|" + armoured, withKey},
		{jammy, "deb https://example.com jammy main | 0x5EDB1B62EC4926EA", withID},
		{jammy, "http://example.com/ubuntu", line("deb http://example.com/ubuntu jammy main")},
		{jammy, "https://example.com|5EDB1B62EC4926EA", withID},
	} {
		got, err := apt.ParseSource(test.value, test.release)
		require.NoError(t, err, test.value)
		if test.want.File == "ovn-central-" {
			assert.Regexp(t, `^ovn-central-[0-9a-f]{8}\.list$`, got.File)
			assert.Contains(t, []string{"", got.Line}, lineOf[got.File])
			lineOf[got.File], test.want.File = got.Line, got.File
		}
		assert.Equal(t, test.want, got)
	}
}

func TestParseSource_unusable_value(t *testing.T) {
	t.Parallel()
	zany := apt.OS{ID: "ubuntu", VersionID: "31.04", Codename: "zany"}
	for release, values := range map[apt.OS][]string{
		zany: {"caracal"},
		bookworm: {
			"cloud:jammy-caracal", "caracal", "ppa:a/b", "http://example.com/debian", "deb http://example.com/a ./|EC4926EA",
			"deb http://example.com/a ./|-----BEGIN PGP PUBLIC KEY BLOCK-----", "deb http://example.com/a",
		},
		jammy: {
			"newest", "epoxy", "yoga/proposed", "cloud:noble-epoxy", "cloud:epoxy", "cloud:jammy-grizzly", "cloud:jammy-yoga",
			"cloud:jammy-caracal/daily", "ppa:someone", "ppa:--help/x", "deb http://a main\ndeb-src http://b", "http://",
		},
	} {
		for _, value := range values {
			_, err := apt.ParseSource(value, release)
			shown, key, _ := strings.Cut(value, "|")
			require.ErrorContains(t, err, strconv.Quote(shown))
			assert.True(t, key == "" || !strings.Contains(err.Error(), key))
			problem := apt.SourceProblem(value, release)
			require.NotEmpty(t, problem)
			assert.NotContains(t, problem.String(), strconv.Quote(shown), "the option's finding has the value already")
		}
	}
	_, err := apt.ParseSource("deb https://me:secret@example.com", jammy)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "secret")
}

func TestReadOS(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "os-release")
	for text, want := range map[string]apt.OS{
		"NAME=\"Ubuntu 22.04.3 LTS\"\nVERSION_ID=\"22.04\"\nVERSION_CODENAME=jammy\nID=ubuntu\n": jammy,

		"ID=debian\nVERSION_ID='12'\nVERSION_CODENAME=bookworm": bookworm,
		"ID=debian\nVERSION_CODENAME=sid\n":                     {ID: "debian", Codename: "sid"},
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		got, err := apt.ReadOS(path)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	require.NoError(t, os.WriteFile(path, []byte("ID=arch\n"), 0o600))
	_, err := apt.ReadOS(path)
	require.Error(t, err)
	_, err = apt.ReadOS(path + ".none")
	require.ErrorIs(t, err, os.ErrNotExist)

	here, err := apt.ReadOS(apt.OSRelease)
	require.NoError(t, err)
	assert.Contains(t, []string{"debian", "ubuntu"}, here.ID)
}

const (
	armourBegin = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n"
	armourEnd   = "\n-----END PGP PUBLIC KEY BLOCK-----\n"
)

func armour(parts ...[]byte) string {
	return armourBegin + "Comment: none\n\n" + base64.StdEncoding.EncodeToString(slices.Concat(parts...)) + armourEnd
}

func TestCheckKey(t *testing.T) {
	t.Parallel()
	lines := strings.Split(armoured, "\n")
	all, err := base64.StdEncoding.DecodeString(strings.Join(lines[2:len(lines)-2], ""))
	require.NoError(t, err)
	for _, id := range []string{armouredID, strings.ToLower(armouredID), armouredID[24:]} {
		require.NoError(t, apt.CheckKey(armoured, id), id)
		require.NoError(t, apt.CheckKey(strings.ReplaceAll(armoured, "\n", "\r\n"), id), id)
	}
	long := []byte{0xc6, 0xff, 0, 0, 0, all[1]} // the same packet with another form of length
	require.NoError(t, apt.CheckKey(armour(long, all[2:]), armouredID))
	other := slices.Clone(all[:53]) // the key itself
	other[20] ^= 1
	secret, sub := []byte{5<<2 | 0x80}, []byte{14<<2 | 0x80}
	for name, text := range map[string]string{
		"other_key":     armour(other),
		"key_before":    armour(other, all),
		"key_after":     armour(all, other),
		"as_subkey":     armour(other, sub, all[1:]),
		"secret_key":    armour(secret, all[1:]),
		"other_version": armour(all[:2], []byte{3}, all[3:]),
		"cut_short":     armour(all[:40]),
		"no_packet":     armour([]byte("hello")),
		"empty":         armour(),
		"no_base64":     armourBegin + "\n!" + armourEnd,
		"one_line":      armourBegin,
	} {
		assert.Error(t, apt.CheckKey(text, armouredID), name)
	}
	for i := range all { // no panic
		_ = apt.CheckKey(armour(all[:i]), armouredID)
		_ = apt.CheckKey(armour(all[i:]), armouredID)
	}
}
