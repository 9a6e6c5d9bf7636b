//go:build cgo

package main

import (
	"bytes"

	"parley/inference/worker"
	"parley/media"
)

const (
	// streamQueue holds a stream's messages until its decoder takes them. The
	// server keeps at most two seconds of audio unanswered, in messages of 20 ms
	// or more; a stream that exceeds the queue breaks that rule and fails.
	streamQueue = 256
	// blockSamples is the audio decoded between two looks at the hypothesis: 50 ms.
	// It is always the same, because the library's result depends on it a little.
	blockSamples = 800
	// maxAudioBytes bounds one Audio message: 1 s.
	maxAudioBytes = 32000
	// maxStreams bounds the decoders of one process, at 8 MB each.
	maxStreams = 256
)

// task is one message to a decoder's goroutine.
type task struct {
	kind    worker.Kind
	payload []byte
}

// serveASR recognises any number of streams until its input ends.
func serveASR(in *worker.Reader, out *worker.Writer, model string) error {
	if err := checkModel(model); err != nil {
		return err
	}
	hush()
	if err := out.Send(worker.Hello, 0, []byte("pocketsphinx 5prealpha")); err != nil {
		return err
	}
	streams := map[uint32]chan task{}
	ended := make(chan uint32, maxStreams) // room for every stream: none waits to end
	return messages(in, out, func(m worker.Message) error {
		for len(ended) > 0 {
			delete(streams, <-ended)
		}
		queue := streams[m.Stream]
		switch {
		case m.Kind == worker.Open && queue == nil:
			if len(streams) >= maxStreams {
				return out.Send(worker.Failed, m.Stream, []byte("too many streams"))
			}
			queue = make(chan task, streamQueue)
			streams[m.Stream] = queue
			go func(id uint32, setup []byte) {
				recognise(id, model, setup, queue, out)
				ended <- id
			}(m.Stream, bytes.Clone(m.Payload))
		case queue == nil:
			// Messages that crossed our Failed on the way, or of a stranger.
		case m.Kind == worker.Audio && len(m.Payload) > maxAudioBytes:
			return refuse(streams, m.Stream, out, "too much audio in one message")
		default:
			select {
			case queue <- task{m.Kind, bytes.Clone(m.Payload)}:
			default:
				return refuse(streams, m.Stream, out, "too many messages unanswered")
			}
		}
		return nil
	})
}

// refuse ends a stream whose peer breaks the rules.
func refuse(streams map[uint32]chan task, id uint32, out *worker.Writer, why string) error {
	close(streams[id])
	delete(streams, id)
	return out.Send(worker.Failed, id, []byte(why))
}

// recognise owns one decoder from Open to Close. Failing to write means that the
// server is gone, which the reader of standard input notices as well.
func recognise(id uint32, model string, setup []byte, tasks <-chan task, out *worker.Writer) {
	lm, dictionary, err := worker.DecodeModel(setup)
	if err != nil {
		out.Send(worker.Failed, id, []byte(err.Error()))
		return
	}
	d, err := openDecoder(model, lm, dictionary)
	if err != nil {
		out.Send(worker.Failed, id, []byte(err.Error()))
		return
	}
	defer d.close()
	r := recogniser{id: id, decoder: d, out: out}
	for t := range tasks {
		switch t.kind {
		case worker.Audio:
			err = r.hear(t.payload)
		case worker.Finish:
			err = r.finish()
		case worker.Close:
			out.Send(worker.Done, id, nil)
			return
		}
		if err != nil {
			out.Send(worker.Failed, id, []byte(err.Error()))
			return
		}
	}
}

// recogniser answers for one stream.
type recogniser struct {
	id      uint32
	decoder *decoder
	out     *worker.Writer
	said    string  // the latest partial sent
	rest    []int16 // heard, but not yet a block
}

// hear decodes what makes whole blocks and acknowledges all of it.
func (r *recogniser) hear(payload []byte) error {
	r.rest = media.AppendSamples(r.rest, payload)
	done := 0
	for ; len(r.rest)-done >= blockSamples; done += blockSamples {
		if err := r.decoder.write(r.rest[done : done+blockSamples]); err != nil {
			return err
		}
		if text := r.decoder.text(); text != "" && text != r.said {
			r.said = text
			if err := r.out.Send(worker.Partial, r.id, []byte(text)); err != nil {
				return err
			}
		}
	}
	r.rest = r.rest[:copy(r.rest, r.rest[done:])]
	return r.out.Send(worker.Heard, r.id, worker.EncodeCount(len(payload)/2))
}

// finish ends the utterance and returns its text.
func (r *recogniser) finish() error {
	if err := r.decoder.write(r.rest); err != nil {
		return err
	}
	text, err := r.decoder.finish()
	if err != nil {
		return err
	}
	r.said, r.rest = "", r.rest[:0]
	return r.out.Send(worker.Final, r.id, []byte(text))
}
