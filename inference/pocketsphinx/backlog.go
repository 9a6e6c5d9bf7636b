package pocketsphinx

import "parley/media"

const (
	rate = int(media.Rate16k)
	// keepSamples is the audio kept of utterances that have no final yet, for the
	// worker that has not heard it or for the one that comes after a death: 15 s.
	keepSamples = 15 * rate
	// slack is how far beyond that the backlog grows before it is cut back, so
	// that a long utterance is not moved in memory with every frame.
	slack = rate
	// window is how far ahead of the worker's acknowledgements audio is sent: 2 s
	// keep the decoder busy and fit into its queue.
	window = 2 * rate
	// block is the most that is sent at once: 0.5 s.
	block = rate / 2
	// maxFinishing bounds the utterances whose end was sent to a worker that has
	// not answered, far below its queue.
	maxFinishing = 8
	// maxPieces bounds the utterances without a final. A caller pauses once a
	// second at most, so more mean that somebody calls Finish without audio.
	maxPieces = 256
	// maxDeaths is how many workers a piece may kill before it is given up.
	maxDeaths = 2
)

// piece is what a decoder hears as one utterance: from a first Write to a Finish.
// An utterance of the call that was resumed has several.
type piece struct {
	utterance int
	from, to  int  // in samples since the stream began; to moves while it is open
	fresh     bool // it began its utterance
	finished  bool // Finish was called
	told      bool // and the worker knows
	deaths    int  // of workers at this piece
}

// backlog is the audio of the pieces that have no final result, and how much of
// it the worker knows. It has no lock of its own.
type backlog struct {
	audio    []int16
	base     int // position of audio[0]
	pieces   []piece
	sent     int // position up to which the worker was given audio
	inflight int // samples given and not acknowledged
	dropped  int // samples that no worker was given, for want of room
}

func (b *backlog) end() int { return b.base + len(b.audio) }

// open is the piece that Write extends, or nil.
func (b *backlog) open() *piece {
	if n := len(b.pieces); n > 0 && !b.pieces[n-1].finished {
		return &b.pieces[n-1]
	}
	return nil
}

func (b *backlog) begin(utterance int, fresh bool) {
	b.pieces = append(b.pieces, piece{utterance: utterance, fresh: fresh, from: b.end(), to: b.end()})
}

// write extends the open piece and forgets the oldest audio beyond the bound.
func (b *backlog) write(samples []int16) {
	b.audio = append(b.audio, samples...)
	b.pieces[len(b.pieces)-1].to = b.end()
	if len(b.audio) > keepSamples+slack {
		b.forget(b.end() - keepSamples)
	}
}

// forget drops the audio before position to.
func (b *backlog) forget(to int) {
	n := copy(b.audio, b.audio[to-b.base:])
	b.audio, b.base = b.audio[:n], to
	if b.sent < to {
		b.dropped += to - b.sent
		b.sent = to
	}
	for i := range b.pieces {
		p := &b.pieces[i]
		p.from, p.to = max(p.from, to), max(p.to, to)
	}
}

// next is what to send to the worker now: audio, the end of a piece, or
// neither. It counts both as told; audio is valid until the next write or drop.
func (b *backlog) next() (audio []int16, finish bool) {
	finishing := 0
	for i := range b.pieces {
		p := &b.pieces[i]
		if p.told {
			finishing++
			continue
		}
		if finishing == maxFinishing {
			return nil, false
		}
		if n := min(p.to-b.sent, block, window-b.inflight); n > 0 {
			audio = b.audio[b.sent-b.base:][:n]
			b.sent += n
			b.inflight += n
			return audio, false
		}
		if b.sent < p.to || !p.finished {
			return nil, false
		}
		p.told = true
		return nil, true
	}
	return nil, false
}

// undecoded is the audio that the worker was not given or has not acknowledged, in samples.
func (b *backlog) undecoded() int { return b.end() - b.sent + b.inflight }

// owes says that an utterance has ended and has no final result yet.
func (b *backlog) owes() bool { return len(b.pieces) > 0 && b.pieces[0].finished }

// heard counts n samples as acknowledged.
func (b *backlog) heard(n int) { b.inflight = max(0, b.inflight-n) }

// drop removes the first piece and its audio.
func (b *backlog) drop() piece {
	p := b.pieces[0]
	b.pieces = append(b.pieces[:0], b.pieces[1:]...)
	b.forget(p.to)
	return p
}

// rewind makes everything be sent again, to a new worker. It says whether the
// first piece has seen too many die.
func (b *backlog) rewind() (hopeless bool) {
	b.sent, b.inflight = b.base, 0
	for i := range b.pieces {
		b.pieces[i].told = false
	}
	if len(b.pieces) == 0 {
		return false
	}
	b.pieces[0].deaths++
	return b.pieces[0].deaths > maxDeaths
}

// skip forgets the audio of the first piece so far when it goes on.
func (b *backlog) skip() bool {
	p := &b.pieces[0]
	if p.finished {
		return false
	}
	p.deaths = 0
	b.forget(p.to)
	return true
}
