package sounds

import (
	"slices"
	"sync"
)

// maxCached bounds the sounds whose audio is kept in memory: 23 MB, where all of them are as long as they may be. The one that was asked
// for least recently goes; calls in which it plays keep it.
const maxCached = 16

// cache has the audio of sounds. It knows nothing of accounts and deletions: who asks has asked the database.
type cache struct {
	mu   sync.Mutex
	kept []cached // the most recent last
}

type cached struct {
	id    string
	codes []byte
}

// find returns the audio of a sound; nil: it is not there.
func (c *cache) find(id string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.kept, func(k cached) bool { return k.id == id })
	if i < 0 {
		return nil
	}
	k := c.kept[i]
	c.kept = append(slices.Delete(c.kept, i, i+1), k)
	return k.codes
}

// add keeps the audio of a sound.
func (c *cache) add(id string, codes []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = slices.DeleteFunc(c.kept, func(k cached) bool { return k.id == id })
	if len(c.kept) == maxCached {
		c.kept = slices.Delete(c.kept, 0, 1)
	}
	c.kept = append(c.kept, cached{id, codes})
}
