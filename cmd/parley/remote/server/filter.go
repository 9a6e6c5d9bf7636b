package server

import (
	"slices"
	"strings"

	"parley/cmd/parley/command"
)

// CheckFilter refuses a limit out of bounds, and a flag whose value is none of its words; empty: the flag was not given.
func CheckFilter(limit int, given map[string]string, words map[string][]string) error {
	if limit < 1 || limit > 100 {
		return command.UsageError("--limit: from 1 to 100")
	}
	for name, value := range given {
		if value != "" && !slices.Contains(words[name], value) {
			return command.UsageError("--" + name + " is one of " + strings.Join(words[name], ", "))
		}
	}
	return nil
}
