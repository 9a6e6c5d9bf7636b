package reply

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/inference"
)

// Lines keeps the audio of agents' own lines for the calls of a server. Calls share its memory,
// and a voice is asked for a line once an hour, not in each call. What a voice spoke that only
// stands in for the preferred one is not kept. The zero value is empty; nil keeps nothing.
// Its methods may be called from any goroutine.
type Lines struct {
	mu   sync.Mutex
	kept map[sharedKey]*sharedLine
	size int // samples of all
}

// sharedKey is a line of a voice.
type sharedKey struct {
	tts inference.TTS
	key string
}

type sharedLine struct {
	chunks     []inference.Chunk
	size       int
	made, used time.Time
}

const (
	// maxShared bounds the samples that are kept: a quarter of an hour at 24 kHz, 43 MB.
	maxShared = 15 * 60 * 24000
	// sharedFor is how long, for a voice may change where it is made.
	sharedFor = time.Hour
)

// get is the audio of a line, which nobody may change; nil: it is not kept.
func (l *Lines) get(tts inference.TTS, key string) []inference.Chunk {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.kept[sharedKey{tts, key}]
	if line == nil || time.Since(line.made) > sharedFor {
		return nil
	}
	line.used = time.Now()
	return line.chunks
}

// put keeps a line. When it is full, what was not used for longest goes.
func (l *Lines) put(tts inference.TTS, key string, chunks []inference.Chunk) {
	if l == nil {
		return
	}
	size := 0
	preferred, _, _ := strings.Cut(tts.Info().Name, ",")
	for _, c := range chunks {
		if c.Engine != "" && c.Engine != preferred {
			return
		}
		size += len(c.Samples)
	}
	if size > maxShared/8 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept == nil {
		l.kept = map[sharedKey]*sharedLine{}
	}
	l.drop(sharedKey{tts, key})
	for l.size+size > maxShared {
		l.drop(slices.MinFunc(slices.Collect(maps.Keys(l.kept)), func(a, b sharedKey) int { return l.kept[a].used.Compare(l.kept[b].used) }))
	}
	l.kept[sharedKey{tts, key}] = &sharedLine{chunks, size, time.Now(), time.Now()}
	l.size += size
}

// drop forgets a line, if it is kept. The lock is held.
func (l *Lines) drop(k sharedKey) {
	if line := l.kept[k]; line != nil {
		l.size -= line.size
		delete(l.kept, k)
	}
}
