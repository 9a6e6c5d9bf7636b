//go:build cgo

package main

// #include <espeak-ng/speak_lib.h>
import "C"

import (
	"bytes"
	"unicode/utf8"
	"unsafe"

	"parley/inference/worker"
)

// parleyChunk is called by espeak-ng with each piece of speech and the events
// that begin in it; returning 1 ends the synthesis.
//
//export parleyChunk
func parleyChunk(wav *C.short, samples C.int, list *C.espeak_EVENT) C.int {
	if speaking == nil || wav == nil { // a nil wav marks the end
		return 0
	}
	var events []worker.Event
	for e := list; e != nil && e._type != C.espeakEVENT_LIST_TERMINATED; e = nextEvent(e) {
		// Positions count code points from 1; 0 is an event outside the text.
		event := worker.Event{Sample: int(e.sample), Char: max(0, int(e.text_position)-1)}
		switch e._type {
		case C.espeakEVENT_WORD:
			event.Word = true
		case C.espeakEVENT_PHONEME:
			event.Text = phoneme(e.id[:])
		default:
			continue
		}
		events = append(events, event)
	}
	pcm := unsafe.Slice((*int16)(unsafe.Pointer(wav)), int(samples))
	if !speaking.emit(pcm, events) {
		return 1
	}
	return 0
}

func nextEvent(e *C.espeak_EVENT) *C.espeak_EVENT {
	return (*C.espeak_EVENT)(unsafe.Add(unsafe.Pointer(e), unsafe.Sizeof(*e)))
}

// phoneme reads an IPA name of up to eight bytes, which the library cuts without
// regard to characters.
func phoneme(name []byte) string {
	if i := bytes.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	for len(name) > 0 && !utf8.Valid(name) {
		name = name[:len(name)-1]
	}
	return string(name)
}
