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
// with a small language model it makes the result worse too.
static ps_decoder_t *parley_decoder(const char *hmm, const char *lm, const char *dict, const char *fwdflat) {
	cmd_ln_t *c = cmd_ln_init(NULL, ps_args(), TRUE, "-hmm", hmm, "-lm", lm, "-dict", dict, "-fwdflat", fwdflat, NULL);
	ps_decoder_t *ps;
	if (c == NULL)
		return NULL;
	{ char *x = getenv("PSX"); if (x) { char *d = strdup(x), *save, *k; for (k = strtok_r(d," ",&save); k; k = strtok_r(NULL," ",&save)) { char *v = strtok_r(NULL," ",&save); char t=k[0]; k++; 
	 if(t=='s') cmd_ln_set_str_r(c,k,v); else if(t=='f') cmd_ln_set_float_r(c,k,atof(v)); else cmd_ln_set_int_r(c,k,atoi(v)); } } }
	ps = ps_init(c);
	cmd_ln_free_r(c);
	return ps;
}

static int parley_again(ps_decoder_t *ps, int16 *x, size_t n, int set) {
	if (ps_start_utt(ps) < 0) return -1;
	ps_process_raw(ps, x, n, 0, 1);
	if (set) { mfcc_t v[64]; int i; cmn_t *c = ps_get_feat(ps)->cmn_struct; memcpy(v, c->cmn_mean, c->veclen*sizeof(*v)); cmn_live_set(c, v);
	 if (getenv("PSPRINT")) { for (i=0;i<c->veclen;i++) fprintf(stderr, "%s%.2f", i?",":"CMN ", v[i]); fprintf(stderr,"\n"); } }
	return ps_end_utt(ps);
}

static double parley_confidence(ps_decoder_t *ps) {
	return logmath_exp(ps_get_logmath(ps), ps_get_prob(ps));
}
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"parley/inference/worker"
)

// decoder is one pocketsphinx recogniser. Decoders are independent of each
// other; one belongs to one goroutine.
type decoder struct {
	ps     *C.ps_decoder_t
	inside bool // an utterance is open
	all []int16; n int
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
		files, err := os.MkdirTemp("", "parley-speech-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(files)
		lmPath, dictPath, fwdflat = filepath.Join(files, "lm.arpa"), filepath.Join(files, "words.dict"), "no"
		if err := errors.Join(os.WriteFile(lmPath, lm, 0o600), os.WriteFile(dictPath, dictionary, 0o600)); err != nil {
			return nil, err
		}
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
	if len(samples) == 0 {
		return nil
	}
	if !d.inside {
		if C.ps_start_utt(d.ps) < 0 {
			return errors.New("pocketsphinx does not start an utterance")
		}
		d.inside = true
	}
	d.all = append(d.all, samples...)
	if C.ps_process_raw(d.ps, (*C.int16)(unsafe.Pointer(&samples[0])), C.size_t(len(samples)), 0, 0) < 0 {
		return errors.New("pocketsphinx fails to recognise")
	}
	return nil
}

// text is what the utterance seems to be so far.
func (d *decoder) text() string { return C.GoString(C.ps_get_hyp(d.ps, nil)) }

// finish ends the utterance.
func (d *decoder) finish() (worker.Hypothesis, error) {
	if !d.inside {
		return worker.Hypothesis{Confidence: -1}, nil
	}
	d.inside = false
	d.n++
	if m := os.Getenv("PSMODE"); m == "batch" || m == "first" && d.n == 1 {
		C.ps_end_utt(d.ps)
		set := C.int(0); if d.n==1 || os.Getenv("PSPRINT")!="" { set = 1 }
		C.parley_again(d.ps, (*C.int16)(unsafe.Pointer(&d.all[0])), C.size_t(len(d.all)), set)
		d.all = nil
		return worker.Hypothesis{Text: d.text(), Confidence: -1}, nil
	}
	if C.ps_end_utt(d.ps) < 0 {
		return worker.Hypothesis{}, errors.New("pocketsphinx does not end an utterance")
	}
	h := worker.Hypothesis{Text: d.text(), Confidence: -1}
	if h.Text != "" {
		h.Confidence = min(1, float64(C.parley_confidence(d.ps)))
	}
	return h, nil
}

func (d *decoder) close() { C.ps_free(d.ps) }
