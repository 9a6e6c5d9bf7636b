package pocketsphinx

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	sentenceStart = "<s>"
	sentenceEnd   = "</s>"
)

// gram is up to three words, the latest last.
type gram [3]string

// ngrams counts what a language model is made of.
type ngrams struct {
	count [3]map[gram]float64 // by length - 1
	// of histories, by length (0 to 2): how often each was seen, and how many
	// different words followed it
	total, kinds [3]map[gram]float64
}

func newNgrams() *ngrams {
	n := &ngrams{}
	for i := range 3 {
		n.count[i], n.total[i], n.kinds[i] = map[gram]float64{}, map[gram]float64{}, map[gram]float64{}
	}
	return n
}

// add counts a sentence weight times.
func (n *ngrams) add(words []string, weight float64) {
	all := append(append([]string{sentenceStart}, words...), sentenceEnd)
	for i := 1; i < len(all); i++ {
		for order := range min(3, i+1) {
			var g, history gram
			copy(g[:], all[i-order:i+1])
			copy(history[:], all[i-order:i])
			if n.count[order][g] == 0 {
				n.kinds[order][history]++
			}
			n.count[order][g] += weight
			n.total[order][history] += weight
		}
	}
}

// probability is Witten and Bell's estimate (IEEE Trans. Information Theory 37,
// 1991, method C): a history followed by k kinds of words in t places gives k of
// t + k parts to the estimate with a shorter history.
func (n *ngrams) probability(g gram, order int) float64 {
	if order < 0 {
		return 1 / float64(len(n.count[0]))
	}
	history := g
	history[order] = ""
	shorter := gram{}
	copy(shorter[:], g[1:order+1])
	if order == 0 {
		shorter = g
	}
	k, t := n.kinds[order][history], n.total[order][history]
	if t == 0 {
		return n.probability(shorter, order-1)
	}
	return (n.count[order][g] + k*n.probability(shorter, order-1)) / (t + k)
}

// backoff is the part that history leaves to shorter ones.
func (n *ngrams) backoff(history gram, length int) float64 {
	k, t := n.kinds[length][history], n.total[length][history]
	if t == 0 {
		return 1
	}
	return k / (t + k)
}

// arpa writes the trigram model in the ARPA format (Doug Paul's, as in the
// ngram-format manual of SRILM), words in order.
func (n *ngrams) arpa() []byte {
	var b bytes.Buffer
	b.WriteString("\\data\\\n")
	for order := range 3 {
		size := len(n.count[order])
		if order == 0 {
			size++ // <s> is never predicted but is a history
		}
		fmt.Fprintf(&b, "ngram %d=%d\n", order+1, size)
	}
	for order := range 3 {
		fmt.Fprintf(&b, "\n\\%d-grams:\n", order+1)
		if order == 0 {
			n.line(&b, -99, gram{sentenceStart}, order)
		}
		grams := make([]gram, 0, len(n.count[order]))
		for g := range n.count[order] {
			grams = append(grams, g)
		}
		slices.SortFunc(grams, func(a, c gram) int { return slices.Compare(a[:], c[:]) })
		for _, g := range grams {
			n.line(&b, math.Log10(n.probability(g, order)), g, order)
		}
	}
	b.WriteString("\n\\end\\\n")
	return b.Bytes()
}

func (n *ngrams) line(b *bytes.Buffer, log float64, g gram, order int) {
	b.WriteString(strconv.FormatFloat(log, 'f', 4, 64))
	b.WriteByte('\t')
	b.WriteString(strings.Join(g[:order+1], " "))
	if order < 2 {
		b.WriteByte('\t')
		b.WriteString(strconv.FormatFloat(math.Log10(n.backoff(g, order+1)), 'f', 4, 64))
	}
	b.WriteByte('\n')
}
