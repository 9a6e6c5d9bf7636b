package amd_test

import (
	"fmt"
	"testing"
	"time"

	"parley/media/denoise/noisetest"
	"parley/pipeline/amd"
)

// answer is what somebody says, in one voice, with pauses.
type answer struct {
	language, voice string
	lead            int      // ms of silence before it
	says            []string // with gap between
	gap             int      // ms
	line            line
	hz              float64 // of a machine's tone; 0: a person
	wait, tone      int     // ms before the tone, and of it
}

var (
	quiet = line{}
	white = line{noise: noisetest.White, snr: 22}
	pink  = line{noise: noisetest.Pink, snr: 18}
	car   = line{noise: noisetest.Car, snr: 15}
	music = line{music: true}
	both  = line{noise: noisetest.Pink, snr: 25, music: true}
)

// people answer in a word or two, or with who they are.
var people = []answer{
	{language: "en", voice: "F1", lead: 200, says: []string{"Hello?"}, line: quiet},
	{language: "en", voice: "M1", lead: 600, says: []string{"Hello?"}, line: white},
	{language: "en", voice: "F2", lead: 0, says: []string{"Yes?"}, line: quiet},
	{language: "en", voice: "M4", lead: 900, says: []string{"Hello, John Taylor speaking."}, line: car},
	{language: "en", voice: "F4", lead: 300, says: []string{"Hello?", "Who is this?"}, gap: 500, line: quiet},
	{language: "en", voice: "M5", lead: 1800, says: []string{"Hello?"}, line: car},
	{language: "en", voice: "F3", lead: 400, says: []string{"Bright Hair, good morning."}, line: music},
	{language: "es", voice: "F1", lead: 250, says: []string{"¿Diga?"}, line: quiet},
	{language: "es", voice: "M2", lead: 500, says: []string{"¿Sí? ¿Dígame?"}, line: white},
	{language: "es", voice: "F5", lead: 100, says: []string{"Hola, buenos días."}, line: music},
	{language: "es", voice: "M4", lead: 1200, says: []string{"¿Quién es?"}, line: pink},
	{language: "es", voice: "F2", lead: 300, says: []string{"Clínica Dental Sol, buenas tardes."}, line: car},
	{language: "de", voice: "F3", lead: 200, says: []string{"Müller."}, line: car},
	{language: "de", voice: "F3", lead: 700, says: []string{"Ja, hallo?"}, line: pink},
	{language: "de", voice: "M3", lead: 400, says: []string{"Schmidt, guten Tag."}, line: white},
	{language: "de", voice: "F5", lead: 300, says: []string{"Hallo?", "Wer ist da?"}, gap: 600, line: both},
	{language: "fr", voice: "F1", lead: 300, says: []string{"Allô ?"}, line: quiet},
	{language: "fr", voice: "M2", lead: 800, says: []string{"Oui, allô ?"}, line: car},
	{language: "fr", voice: "F4", lead: 150, says: []string{"Cabinet Dubois, bonjour."}, line: white},
	{language: "fr", voice: "M5", lead: 1000, says: []string{"Oui bonjour, qui est à l'appareil ?"}, line: music},
}

// machines say more, and pause less.
var machines = []answer{
	{language: "en", voice: "F1", lead: 300, says: []string{"Hello. You have reached the voicemail of Anna Miller.", "Please leave a message after the tone."}, gap: 300, line: quiet, hz: 1000, wait: 400, tone: 400},
	{language: "en", voice: "M1", lead: 600, says: []string{"The person you are calling is not available. At the tone, please record your message."}, line: white, hz: 1400, wait: 200, tone: 250},
	{language: "en", voice: "F3", lead: 100, says: []string{"Hi, this is Kate, I can't take your call right now, so leave me a message and I will call you back."}, line: pink, hz: 850, wait: 600, tone: 700},
	{language: "en", voice: "M4", lead: 900, says: []string{"You have reached Bright Hair Studio.", "We are closed now. Our opening hours are from nine to seven."}, gap: 400, line: music, hz: 440, wait: 500, tone: 500},
	{language: "en", voice: "F5", lead: 500, says: []string{"Your call has been forwarded to an automatic voice message system."}, line: car, hz: 1004, wait: 300, tone: 200},
	{language: "en", voice: "M2", lead: 200, says: []string{"Leave a message."}, line: quiet, hz: 1000, wait: 200, tone: 300},
	{language: "es", voice: "F1", lead: 300, says: []string{"Hola, has llamado a Marta.", "Ahora no puedo atenderte. Deja tu mensaje después de la señal."}, gap: 400, line: quiet, hz: 1000, wait: 300, tone: 400},
	{language: "es", voice: "M2", lead: 700, says: []string{"El teléfono al que llama está apagado o fuera de cobertura en este momento."}, line: white, hz: 1300, wait: 400, tone: 600},
	{language: "es", voice: "F4", lead: 400, says: []string{"Este es el buzón de voz del número que ha marcado. Grabe su mensaje al oír la señal."}, line: pink, hz: 950, wait: 250, tone: 160},
	{language: "es", voice: "M5", lead: 1000, says: []string{"Gracias por llamar a la clínica dental.", "Nuestro horario es de nueve a dos."}, gap: 500, line: music, hz: 700, wait: 300, tone: 900},
	{language: "es", voice: "F2", lead: 200, says: []string{"Buzón de voz. Deje su mensaje."}, line: car, hz: 1000, wait: 150, tone: 350},
	{language: "de", voice: "M1", lead: 300, says: []string{"Guten Tag. Dies ist der Anrufbeantworter von Familie Schneider.", "Bitte sprechen Sie nach dem Ton."}, gap: 350, line: quiet, hz: 1050, wait: 300, tone: 450},
	{language: "de", voice: "F3", lead: 600, says: []string{"Der angerufene Teilnehmer ist zurzeit leider nicht erreichbar. Bitte rufen Sie später noch einmal an."}, line: white, hz: 950, wait: 500, tone: 330},
	{language: "de", voice: "M3", lead: 800, says: []string{"Sie haben die Mailbox der angewählten Nummer erreicht. Hinterlassen Sie eine Nachricht."}, line: car, hz: 1500, wait: 400, tone: 280},
	{language: "de", voice: "F5", lead: 100, says: []string{"Hallo, hier ist Julia, ich bin gerade nicht da, aber du kannst mir etwas auf das Band sprechen."}, line: both, hz: 800, wait: 300, tone: 500},
	{language: "fr", voice: "F1", lead: 250, says: []string{"Bonjour, vous êtes bien sur le répondeur de Claire.", "Laissez-moi un message après le bip."}, gap: 400, line: quiet, hz: 1000, wait: 300, tone: 400},
	{language: "fr", voice: "M2", lead: 500, says: []string{"Votre correspondant n'est pas disponible pour le moment. Veuillez laisser un message après le signal sonore."}, line: pink, hz: 1400, wait: 350, tone: 220},
	{language: "fr", voice: "F4", lead: 900, says: []string{"Bienvenue sur la messagerie vocale du numéro que vous avez demandé."}, line: white, hz: 620, wait: 200, tone: 800},
	{language: "fr", voice: "M5", lead: 300, says: []string{"Le cabinet médical est fermé.", "Nos bureaux sont ouverts du lundi au vendredi, de neuf heures à dix-huit heures."}, gap: 450, line: music, hz: 1800, wait: 600, tone: 300},
	{language: "fr", voice: "M1", lead: 1300, says: []string{"Bonjour, je ne suis pas là pour le moment, vous pouvez me rappeler ce soir ou laisser un message."}, line: car, hz: 1000, wait: 250, tone: 400},
}

// audio is the answer as it arrives, six seconds at least; toned is when its tone ends.
func (a answer) audio(v voices, seed uint64) (samples []int16, toned time.Duration) {
	samples = silence(a.lead)
	for i, text := range a.says {
		if i > 0 {
			samples = append(samples, silence(a.gap)...)
		}
		samples = append(samples, v.say(a.voice, a.language, text)...)
	}
	if a.hz > 0 {
		samples = append(samples, silence(a.wait)...)
		samples = append(samples, beep(a.hz, a.tone)...)
		toned = rate.Duration(len(samples)).Duration()
	}
	samples = append(samples, silence(max(2000, 6000-len(samples)/8))...)
	return a.line.carry(samples, seed), toned
}

func (a answer) String() string { return fmt.Sprintf("%s %s %q", a.language, a.voice, a.says) }

// TestAnswers: people and machines are distinguished by sound alone, without a recogniser,
// and the tone is noticed when it ends.
func TestAnswers(t *testing.T) {
	t.Parallel()
	v := newVoices(t)
	right := 0
	for i, a := range people {
		samples, _ := a.audio(v, uint64(i))
		h := detect(t, a.language, samples)
		t.Logf("person %v: %v after %v", a, h.verdict, h.at)
		if h.verdict == amd.Human && h.at <= 4*time.Second {
			right++
		}
		if h.verdict == amd.Machine || h.at > 4*time.Second {
			t.Errorf("%v is taken for a %v after %v", a, h.verdict, h.at)
		}
	}
	for i, a := range machines {
		samples, toned := a.audio(v, uint64(100+i))
		h := detect(t, a.language, samples)
		t.Logf("machine %v: %v after %v, its tone %v after its end at %v", a, h.verdict, h.at, h.open-toned, toned)
		if h.verdict != amd.Machine || h.at > 4*time.Second {
			t.Logf("%v is taken for a %v after %v", a, h.verdict, h.at)
			continue
		}
		right++
		if late := h.open - toned; late < 0 || late > 200*time.Millisecond {
			t.Errorf("%v: its tone is noticed %v after its end", a, late)
		}
	}
	if right < 38 {
		t.Errorf("%d of %d were right", right, len(people)+len(machines))
	}
}
