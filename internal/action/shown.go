package action

import (
	"fmt"
	"sort"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/render"
)

// presentable is a document that can be shortened.
type presentable[T any] interface {
	Shortened(most int) T
}

// room is the longest result: Juju takes little more in one argument ([juju.MaxArgument]).
const room = 100_000

// mostEntries is the longest list that fits: each entry takes more than 24 bytes.
const mostEntries = room / 24

// shown is a document in the requested format, with as much of it as Juju takes.
func shown[T presentable[T]](format string, d T, text func(T) string) (string, error) {
	whole, err := rendered(format, d, text)
	if err != nil || len(whole) <= room {
		return whole, err
	}
	fits := ""
	sort.Search(mostEntries, func(n int) bool {
		short, err := rendered(format, d.Shortened(mostEntries-n), text)
		if err != nil || len(short) > room {
			return false
		}
		fits = short
		return true
	})
	if fits == "" {
		return "", fmt.Errorf("the answer is too long for Juju; ask for one network, or on the unit run: " +
			"sudo /var/lib/ovn-central-operator/ovn-central-operator gateways status")
	}
	return fits, nil
}

func rendered[T any](format string, d T, text func(T) string) (string, error) {
	switch format {
	case "", "text":
		return text(d), nil
	case "yaml":
		return render.YAML(document.ForPrograms(d))
	}
	return render.JSON(document.ForPrograms(d))
}
