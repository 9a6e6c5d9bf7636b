package pocketsphinx

import (
	_ "embed"
	"maps"
	"math"
	"strings"
	"sync"
)

//go:embed core.txt
var coreText string

// ownFrames are what callers say around the words that only this agent has, which
// take the place of {own}.
const ownFrames = `{own}
a {own}
the {own}
my {own}
{own} please
in the {own}
to the {own}
from the {own}
about the {own}
for a {own}
for the {own}
is the {own}
does the {own}
have a {own}
i have {own}
do you have {own}`

// maxCombinations is up to how many sentences a line of several classes becomes
// all its combinations; beyond, the classes advance in step.
const maxCombinations = 150

// sentence is a text to learn from. A line with classes counts more than a plain
// one, but not as often as it has members: else names and letters would crowd
// out all other words.
type sentence struct {
	words  []string
	weight float64
}

// core is the everyday English that each model contains.
var core = sync.OnceValue(func() []sentence { return expand(coreText, nil) })

// expand reads the format that core.txt describes, with more classes.
func expand(text string, classes map[string][]string) []sentence {
	known := maps.Clone(classes)
	if known == nil {
		known = map[string][]string{}
	}
	var all []sentence
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if class, ok := strings.CutPrefix(line, "= "); ok {
			name, members, _ := strings.Cut(class, ":")
			for m := range strings.SplitSeq(members, "|") {
				known[name] = append(known[name], strings.TrimSpace(m))
			}
			continue
		}
		texts := combine(strings.Fields(line), known)
		for _, words := range texts {
			all = append(all, sentence{words, 1 / math.Sqrt(float64(len(texts)))})
		}
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
	inStep := product > maxCombinations && product > longest
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
