//go:build cgo

package main

/*
#cgo pkg-config: pocketsphinx
#cgo LDFLAGS: -lpocketsphinx -lsphinxbase
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pocketsphinx.h>
#include <sphinxbase/err.h>
#include <sphinxbase/feat.h>

// The library is talkative: only what fails is passed on.
static void parley_complain(void *data, err_lvl_t level, const char *format, ...) {
	va_list args;
	if (level < ERR_ERROR)
		return;
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
}

static void parley_hush(void) {
	err_set_logfp(NULL);
	err_set_callback(parley_complain, NULL);
}

// A second pass over the utterance (fwdflat) costs up to 110 ms after its end;
// with a small language model it makes the result worse too. Noise is removed
// before the audio comes here.
static ps_decoder_t *parley_decoder(const char *hmm, const char *lm, const char *dict, const char *fwdflat) {
	cmd_ln_t *c = cmd_ln_init(NULL, ps_args(), TRUE, "-hmm", hmm, "-lm", lm, "-dict", dict,
		"-fwdflat", fwdflat, "-remove_noise", "no", NULL);
	ps_decoder_t *ps;
	if (c == NULL)
		return NULL;
	ps = ps_init(c);
	cmd_ln_free_r(c);
	return ps;
}

// Decodes n samples as a whole utterance, or only looks at them, and sets the mean
// that live decoding subtracts from the cepstra to theirs.
static int parley_adapt(ps_decoder_t *ps, const int16 *samples, size_t n, int no_search) {
	cmn_t *cmn = ps_get_feat(ps)->cmn_struct;
	mfcc_t *mean;
	int failed;
	if (ps_start_utt(ps) < 0)
		return -1;
	failed = ps_process_raw(ps, samples, n, no_search, TRUE) < 0;
	mean = malloc(cmn->veclen * sizeof *mean);
	memcpy(mean, cmn->cmn_mean, cmn->veclen * sizeof *mean);
	failed |= ps_end_utt(ps) < 0;
	cmn_live_set(cmn, mean);
	free(mean);
	return failed ? -1 : 0;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"
)

const (
	sampleRate = 16000
	// adaptAfter is how much of a first utterance is heard before its partial
	// results are worth anything: 1 s.
	adaptAfter = sampleRate
	// maxAgain bounds what is decoded again at the end of a first utterance, at
	// some 30 ms a second: 5 s.
	maxAgain = 5 * sampleRate
)

// decoder is one pocketsphinx recogniser. Decoders are independent of each
// other; one belongs to one goroutine.
//
// The model was trained on wide-band speech, and the library takes five seconds
// of another channel, such as a telephone, until its cepstral mean has followed:
// of a caller's first sentence it would get two words in three wrong. So the
// first utterance is kept, the mean is set from it after a second and again at
// its end, and it is decoded again each time.
//
// It reports no confidence: the library's posterior of a whole utterance is near
// zero for right and wrong ones alike.
type decoder struct {
	ps      *C.ps_decoder_t
	inside  bool    // an utterance is open
	adapted bool    // the mean is that of this caller
	first   []int16 // the utterance, until adapted
	early   bool    // the mean was set within this utterance
}

// hush silences the library; once, before the first decoder.
func hush() { C.parley_hush() }

var errDecoder = errors.New("pocketsphinx does not open the model")

// checkModel says early and clearly that the model is not installed.
func checkModel(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "en-us", "mdef")); err != nil {
		return fmt.Errorf("no English model of pocketsphinx in %s: is pocketsphinx-en-us installed?", dir)
	}
	return nil
}

// openDecoder opens a recogniser with a language model and dictionary of the
// call, or with the general ones of dir when lm is empty.
func openDecoder(dir string, lm, dictionary []byte) (*decoder, error) {
	lmPath, dictPath, fwdflat := filepath.Join(dir, "en-us.lm.bin"), filepath.Join(dir, "cmudict-en-us.dict"), "yes"
	if len(lm) > 0 {
		// The library reads files only; these live as long as the reading takes.
		lmFile, err := memoryFile("lm", lm)
		if err != nil {
			return nil, err
		}
		defer lmFile.Close()
		dictFile, err := memoryFile("words", dictionary)
		if err != nil {
			return nil, err
		}
		defer dictFile.Close()
		lmPath, dictPath, fwdflat = lmFile.Name(), dictFile.Name(), "no"
	}
	var names [4]*C.char
	for i, s := range []string{filepath.Join(dir, "en-us"), lmPath, dictPath, fwdflat} {
		names[i] = C.CString(s)
		defer C.free(unsafe.Pointer(names[i]))
	}
	ps := C.parley_decoder(names[0], names[1], names[2], names[3])
	if ps == nil {
		return nil, errDecoder
	}
	return &decoder{ps: ps}, nil
}

// write recognises more audio; the first of an utterance opens it.
func (d *decoder) write(samples []int16) error {
	if !d.adapted {
		d.first = append(d.first, samples...)
		if !d.early && len(d.first) >= adaptAfter {
			d.early = true
			if err := d.adapt(false); err != nil {
				return err
			}
			return d.decode(d.first)
		}
		if len(d.first) > maxAgain { // too long to be decoded again: leave it at that
			d.adapted, d.early, d.first = true, false, nil
		}
	}
	return d.decode(samples)
}

func (d *decoder) decode(samples []int16) error {
	if len(samples) == 0 {
		return nil
	}
	if !d.inside {
		if C.ps_start_utt(d.ps) < 0 {
			return errors.New("pocketsphinx does not start an utterance")
		}
		d.inside = true
	}
	if C.ps_process_raw(d.ps, (*C.int16)(unsafe.Pointer(&samples[0])), C.size_t(len(samples)), 0, 0) < 0 {
		return errors.New("pocketsphinx fails to recognise")
	}
	return nil
}

// adapt sets the mean from the utterance so far, which ends; with search, text is
// what the whole of it is.
func (d *decoder) adapt(search bool) error {
	if err := d.end(); err != nil {
		return err
	}
	noSearch := C.int(1)
	if search {
		noSearch = 0
	}
	if C.parley_adapt(d.ps, (*C.int16)(unsafe.Pointer(&d.first[0])), C.size_t(len(d.first)), noSearch) < 0 {
		return errors.New("pocketsphinx does not adapt")
	}
	return nil
}

func (d *decoder) end() error {
	if !d.inside {
		return nil
	}
	d.inside = false
	if C.ps_end_utt(d.ps) < 0 {
		return errors.New("pocketsphinx does not end an utterance")
	}
	return nil
}

// text is what the utterance seems to be so far.
func (d *decoder) text() string { return C.GoString(C.ps_get_hyp(d.ps, nil)) }

// finish ends the utterance and returns what it was. An utterance too short to
// tell anything of the caller's channel leaves the next one to adapt to.
func (d *decoder) finish() (string, error) {
	if n := len(d.first); n > 0 {
		if err := d.adapt(true); err != nil {
			return "", err
		}
		d.adapted, d.early, d.first = n >= adaptAfter, false, nil
		return d.text(), nil
	}
	if !d.inside {
		return "", nil // text would repeat the utterance before
	}
	if err := d.end(); err != nil {
		return "", err
	}
	return d.text(), nil
}

func (d *decoder) close() { C.ps_free(d.ps) }
