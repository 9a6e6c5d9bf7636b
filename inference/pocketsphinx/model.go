package pocketsphinx

import (
	"crypto/sha256"
	"slices"
	"sync"

	"parley/inference/worker"
)

const (
	// phraseWeight is how many times an agent's own sentence counts beside an
	// everyday one: callers echo the agent more than they chat.
	phraseWeight = 5
	// maxModels bounds the models kept in memory, 300 to 900 kB each. The one used
	// longest ago goes first.
	maxModels = 32
)

// model is what a recogniser of one set of phrases is opened with.
type model struct {
	payload []byte // of worker.Open
	words   int    // in its dictionary
	guessed int    // of these, whose sounds were guessed
	general bool   // the library's own model
	err     error
}

// build makes the model of phrases, or the general one when they have no words.
func build(dictionaryPath string, phrases []string) *model {
	n, words := newNgrams(), map[string]bool{}
	for _, s := range core() {
		n.add(s.words, s.weight)
		for _, w := range s.words {
			words[w] = true
		}
	}
	own, left := map[string][]string{}, maxPhraseWords
	for _, p := range phrases {
		for _, s := range sentences(p) {
			if left -= len(s); left < 0 {
				break
			}
			n.add(s, phraseWeight)
			for _, w := range s {
				if !words[w] {
					words[w], own["own"] = true, append(own["own"], w)
				}
			}
		}
	}
	if left == maxPhraseWords {
		return &model{payload: worker.EncodeModel(nil, nil), general: true}
	}
	if own["own"] != nil {
		for _, s := range expand(ownFrames, own) {
			n.add(s.words, s.weight)
		}
	}
	cut, guessed, err := dictionary(dictionaryPath, words)
	return &model{payload: worker.EncodeModel(n.arpa(), cut), words: len(words), guessed: guessed, err: err}
}

// models keeps what was built, so that the calls of one agent share it.
type models struct {
	path string // of the pronouncing dictionary

	mu   sync.Mutex
	made []made // the latest used last
}

type made struct {
	key  [sha256.Size]byte
	once func() *model
}

// get returns the model of phrases; it takes some tens of milliseconds the first
// time, also for those who ask for the same one meanwhile.
func (m *models) get(phrases []string) *model {
	h := sha256.New()
	for _, p := range phrases {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	key := [sha256.Size]byte(h.Sum(nil))

	m.mu.Lock()
	i := slices.IndexFunc(m.made, func(k made) bool { return k.key == key })
	k := made{key: key, once: sync.OnceValue(func() *model { return build(m.path, phrases) })}
	if i >= 0 {
		k = m.made[i]
		m.made = slices.Delete(m.made, i, i+1)
	} else if len(m.made) == maxModels {
		m.made = slices.Delete(m.made, 0, 1)
	}
	m.made = append(m.made, k)
	m.mu.Unlock()

	built := k.once()
	if built.err != nil { // the dictionary may be there next time
		m.mu.Lock()
		m.made = slices.DeleteFunc(m.made, func(o made) bool { return o.key == key })
		m.mu.Unlock()
	}
	return built
}
