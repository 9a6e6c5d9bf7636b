package pocketsphinx

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed core.txt
var coreText string

var weights []float64

// maxCombinations is up to how many sentences a line of several classes becomes
// all its combinations; beyond, the classes advance in step.
const maxCombinations = 150

// core is the everyday English that each model contains.
var core = sync.OnceValue(func() [][]string { return expand(coreText) })

// expand reads the format that core.txt describes.
func expand(text string) [][]string {
	classes := map[string][]string{}
	var all [][]string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if class, ok := strings.CutPrefix(line, "= "); ok {
			name, members, _ := strings.Cut(class, ":")
			for m := range strings.SplitSeq(members, "|") {
				classes[name] = append(classes[name], strings.TrimSpace(m))
			}
			continue
		}
		xs := combine(strings.Fields(line), classes)
		for range xs {
			weights = append(weights, 1/float64(len(xs)))
		}
		all = append(all, xs...)
	}
	return all
}

// combine replaces the classes of a line by their members.
func combine(line []string, classes map[string][]string) [][]string {
	product, longest := 1, 1
	for _, w := range line {
		if members := classOf(w, classes); members != nil {
			product, longest = product*len(members), max(longest, len(members))
		}
	}
	inStep := product > maxCombinations
	if inStep {
		product = 2 * longest
	}
	var all [][]string
	for i := range product {
		var words []string
		rest := i
		for position, w := range line {
			members := classOf(w, classes)
			if members == nil {
				words = append(words, w)
				continue
			}
			pick := rest % len(members)
			if inStep { // neighbours differ, so that pairs of unlike members occur
				pick = (i*(position+1) + 3*position) % len(members)
			} else {
				rest /= len(members)
			}
			words = append(words, strings.Fields(members[pick])...)
		}
		all = append(all, words)
	}
	return all
}

func classOf(word string, classes map[string][]string) []string {
	if !strings.HasPrefix(word, "{") {
		return nil
	}
	return classes[strings.Trim(word, "{}")]
}
