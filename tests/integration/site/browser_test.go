// Package site looks at the site of the documents, and at their pictures, in a real browser.
package site

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../../.."

var built = filepath.Join(root, "build/site")

// lookScript runs in the browser. The types below are what it gets and sends.
//
//go:embed look.js
var lookScript []byte

type (
	wanted struct {
		Pages    []visit
		Searches []string
	}
	visit struct {
		// Path is the path in the page's address. Widths are the widths of the windows.
		Path   string
		Widths []int
		// Switch requests clicks on the switch of colours.
		Switch bool
	}
	// found has what was found by paths, and by searched words.
	found struct {
		Pages map[string]look
		Hits  map[string][]string
		Error string
	}
	look struct {
		At map[int]page // by width
		// Clicked are the backgrounds after each of three clicks on that switch.
		Clicked []string
	}
	page struct {
		// Sideways is by how many pixels the whole page can be scrolled to the right.
		Sideways int
		// Wider are the elements that reach over the right edge of the window and can't be scrolled.
		Wider []string
		// CutOff are blocks of code with lines that don't fit.
		CutOff []string
		// Scrolls are the tables of two columns that are wider than their place.
		Scrolls []string
		// Code are blocks of code, Copies the buttons that copy them, Contents the visible entries of the page's own
		// table of contents.
		Code, Copies, Contents int
		// Cards are the cards of the start page, Columns how many of them are beside each other.
		Cards, Columns int
		// SearchOnTop reports whether the field to search is above all links to pages.
		SearchOnTop bool
		// Themes are the visible switches of colours, Background is the colour behind the text.
		Themes     int
		Background string
		// Icons are the colours behind the icons of the buttons that copy.
		Icons []string
		// Target is the place in the page that the address leads to, Anchors are all such places.
		Target  string
		Anchors []string
		// Player reports whether the recording of the demo plays here. Pauses are the labels of the places where it pauses.
		Player bool
		Pauses []string
		// Pictures are the widths of the pictures.
		Pictures []int
	}
)

// Chromium's values of --blink-settings=preferredColorScheme.
const dark, light = 0, 1

// browse has a browser look at the built site. The browser asks for dark or light pages.
func browse(t *testing.T, scheme int, want wanted) (all found) {
	t.Helper()
	answers := make(chan found, 1)
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(built)))
	mux.HandleFunc("/-/look.html", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "<!doctype html><meta charset=utf-8><body><script>%s</script>", lookScript)
	})
	mux.HandleFunc("/-/wanted", func(w http.ResponseWriter, _ *http.Request) {
		assert.NoError(t, json.NewEncoder(w).Encode(want))
	})
	mux.HandleFunc("/-/found", func(_ http.ResponseWriter, r *http.Request) {
		var answer found
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&answer))
		answers <- answer
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	colours := fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme)
	dom := dump(t, server.URL+"/-/look.html", 5*time.Minute, colours)
	select {
	case all = <-answers:
	default:
		require.Fail(t, "the page has sent nothing", "%s", dom)
	}
	require.Empty(t, all.Error)
	require.Len(t, all.Pages, len(want.Pages))
	return all
}

// dump returns a page after its scripts have run: for 10 minutes of virtual time, within the limit of real time.
func dump(t *testing.T, url string, limit time.Duration, flags ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	// Its sandbox does not work for root.
	flags = append(flags, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,900",
		"--virtual-time-budget=600000", "--user-data-dir="+t.TempDir(), "--dump-dom", url)
	out, err := exec.CommandContext(ctx, "chromium-headless-shell", flags...).Output()
	require.NoError(t, err)
	return out
}
