//go:build cgo

package main

/*
#cgo LDFLAGS: -lespeak-ng
#include <stdlib.h>
#include <espeak-ng/speak_lib.h>

extern int parleyChunk(short *wav, int samples, espeak_EVENT *events);

static void parley_listen(void) { espeak_SetSynthCallback(parleyChunk); }
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"parley/inference/worker"
)

const (
	// espeakRate is what espeak-ng's formant voices are made at.
	espeakRate = 22050
	// chunkMS is the length of the pieces that speech comes in: short, so that
	// the first sound and an abort are quick.
	chunkMS = 60
)

// espeak is the library, which has one global state: there is one of it, and it
// belongs to one goroutine on one system thread.
type espeak struct{}

// speaking is the synthesis in progress. The library's callback carries no
// pointer of ours before the first word, so it is a global like the library.
var speaking *synthesis

// synthesis is where the audio of one request goes.
type synthesis struct {
	emit func(samples []int16, events []worker.Event) (more bool)
}

// openEspeak initialises the library and binds the goroutine to its thread.
func openEspeak() (synthesiser, string, error) {
	runtime.LockOSThread()
	// The library looks for a sound server, of which the sandbox has none; the client library
	// of that would complain on standard error.
	os.Setenv("PULSE_LOG_SYSLOG", "1")
	const options = C.espeakINITIALIZE_PHONEME_EVENTS | C.espeakINITIALIZE_PHONEME_IPA | C.espeakINITIALIZE_DONT_EXIT
	rate := C.espeak_Initialize(C.AUDIO_OUTPUT_SYNCHRONOUS, chunkMS, nil, options)
	if rate != espeakRate {
		return nil, "", fmt.Errorf("espeak-ng does not start (%d): is espeak-ng-data installed?", int(rate))
	}
	C.parley_listen()
	version := C.GoString(C.espeak_Info(nil))
	return espeak{}, "espeak-ng " + version, nil
}

// speak is the synthesiser's.
func (espeak) speak(r worker.Synthesis, emit func([]int16, []worker.Event) bool) error {
	voice, text := C.CString(r.Voice), C.CString(r.Text)
	defer C.free(unsafe.Pointer(voice))
	defer C.free(unsafe.Pointer(text))
	if C.espeak_SetVoiceByName(voice) != C.EE_OK {
		return errors.New("espeak-ng has no voice " + r.Voice)
	}
	for _, p := range []struct {
		parameter C.espeak_PARAMETER
		value     int
	}{{C.espeakRATE, r.Rate}, {C.espeakPITCH, r.Pitch}, {C.espeakRANGE, r.Range}} {
		if C.espeak_SetParameter(p.parameter, C.int(p.value), 0) != C.EE_OK {
			return errors.New("espeak-ng refuses the rate or pitch")
		}
	}
	speaking = &synthesis{emit: emit}
	defer func() { speaking = nil }()
	const flags = C.espeakCHARS_UTF8 | C.espeakENDPAUSE
	if C.espeak_Synth(unsafe.Pointer(text), C.size_t(len(r.Text)+1), 0, C.POS_CHARACTER, 0, flags, nil, nil) != C.EE_OK {
		return errors.New("espeak-ng fails to speak")
	}
	return nil
}
