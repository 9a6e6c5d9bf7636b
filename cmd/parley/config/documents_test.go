package config

import (
	"fmt"
	"strings"
)

// settingsDocument writes the table of settings as a Markdown document.
func settingsDocument() string {
	var b strings.Builder
	b.WriteString(`# Settings

Each is an environment variable, and a key in the file of ` + "`parley serve --config FILE`" + `: ` + "`PARLEY_HTTP_ADDR` is `http_addr`" + `. Those with a flag
say so. A flag counts before the environment, the environment before the file. A secret may be kept in a file of its own:
` + "`PARLEY_SECRET_FILE` names the file of `PARLEY_SECRET`" + `.

This page is generated from the table of settings by ` + "`go test ./cmd/parley/config -run TestSettingsPage -update`" + `.
`)
	section := ""
	for _, s := range settings {
		if s.section != section {
			section = s.section
			fmt.Fprintf(&b, "\n## %s\n\n| Setting | Default | What it does | Allowed |\n| :- | :- | :- | :- |\n", section)
		}
		def, flag := s.Otherwise, ""
		if s.Default != "" {
			def = "`" + s.Default + "`"
		}
		if s.Flag {
			flag = " `--" + s.FlagName() + "`"
		}
		fmt.Fprintf(&b, "| `%s%s`%s | %s | %s | %s |\n", prefix, s.Name, flag, cell(def), cell(s.Meaning), cell(s.Allowed))
	}
	return b.String()
}

// cell is text inside a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// exampleDocument writes the documented configuration file, every setting commented
// out at its default.
func exampleDocument() string {
	var b strings.Builder
	b.WriteString(`# Settings of the Parley server. Use a copy of this file with
#   parley serve --config parley.yaml
# Each key is also an environment variable: http_addr is PARLEY_HTTP_ADDR.
# A flag counts before the environment, the environment before this file.
# A secret may be kept in a file of its own: secret_file names it.
#
# Generated from the table of settings by
#   go test ./cmd/parley/config -run TestExampleFile -update
`)
	section := ""
	for _, s := range settings {
		if s.section != section {
			section = s.section
			fmt.Fprintf(&b, "\n# --- %s ---\n", section)
		}
		fmt.Fprintf(&b, "\n# %s\n# Allowed: %s.\n", s.Meaning, s.Allowed)
		if s.Otherwise != "" {
			fmt.Fprintf(&b, "# When empty: %s.\n", s.Otherwise)
		}
		fmt.Fprintf(&b, "#%s: %s\n", s.Key(), yamlText(s.Default))
	}
	b.WriteString(enginesExample)
	b.WriteString(trunksExample)
	return b.String()
}

// enginesExample is the part of the example file for the engines.
const enginesExample = `
# --- List of engines ---

# Engines of vendors, each under a name of its own; several of one vendor are usual. Only this
# file has them. The settings asr, llm and tts name those that are used unless an agent names
# others, in order: asr: [flux, pocketsphinx]. Vendors: assemblyai, cartesia,
# deepgram, elevenlabs, openai and soniox for asr, anthropic, gemini and openai for llm, cartesia, deepgram, elevenlabs,
# inworld, onnx, openai and rime for tts, gemini and openai for realtime, onnx for turn. Of openai, the models gpt-live-... and gpt-realtime-... of asr recognise while the caller speaks.
# Those of realtime hear, answer and speak by themselves, for agents that name one; the rate card must have the prices of realtime.
# Those of onnx are neural models that you bring with parley models, run on this machine by ONNX Runtime, which make onnx brings. The
# first of turn judges by the sound of each pause whether the caller has finished, in languages that it knows.
# Vendors serve as many streams at a time as an account has bought: with concurrency one more waits 0.3 s for a place, and then the
# next engine serves. Engines of a stage with the same vendor, url and key share the places, and the lowest number counts.
# Accounts may set keys of their own (PUT /v1/engine-keys), which then serve them in place of these, each with places of its own;
# with key: account an engine serves those accounts alone.
# costs say what the vendor charges, in US dollars, and what each session has used is recorded with it: audio_minute, open_minute,
# request, million_characters, million_tokens_in, million_tokens_in_cached, million_tokens_in_audio, million_tokens_in_audio_cached,
# million_tokens_out, million_tokens_out_audio.
#engines:
#  - name: flux
#    stage: asr
#    vendor: deepgram
#    model: flux-general-multi     # flux-... finds the ends of turns; nova-3 does not
#    key_file: /etc/parley/deepgram.key   # or key:
#    options: {eot_threshold: 0.7, eager_eot_threshold: 0.4}
#    concurrency: 50               # streams at a time; without it, or with 0, any number
#  - name: haiku
#    stage: llm
#    vendor: anthropic
#    model: claude-haiku-4-5
#    models: [claude-haiku-4-5, claude-sonnet-4-5]   # those that agents may name; without it any
#    key_file: /etc/parley/anthropic.key
#    options: {temperature: 0.5, cache_ttl: 5m}
#    costs: {million_tokens_in: 1, million_tokens_in_cached: 0.1, million_tokens_out: 5}
#  - name: flash
#    stage: llm
#    vendor: gemini
#    model: gemini-2.5-flash
#    key_file: /etc/parley/gemini.key
#    options: {max_tokens: 300}    # it thinks as little as the model allows: thinking_level or thinking_budget
#  - name: gpt
#    stage: llm
#    vendor: openai
#    url: https://api.openai.com/v1
#    model: gpt-5-mini
#    key_file: /etc/parley/openai.key
#    options: {api: responses, reasoning_effort: low}   # OpenAI's own; api: chat is what all servers have
#  - name: sonic
#    stage: tts
#    vendor: cartesia
#    model: sonic-3.5
#    key_file: /etc/parley/cartesia.key
#    # The vendor's voices by ours; a missing one is the first of its gender. F1-es is what F1 is in Spanish.
#    voices: {F1: "identifier of a voice", F1-es: "identifier of a voice", M1: "identifier of a voice"}
#  - name: theirs
#    stage: llm
#    vendor: anthropic
#    key: account                  # for accounts that have set a key for it, and no others
#  - name: local
#    stage: llm
#    vendor: openai                # any server of that dialect
#    url: http://127.0.0.1:11434/v1
#    model: llama3.1
#  - name: live
#    stage: realtime
#    vendor: openai
#    url: https://api.openai.com/v1   # at Azure https://NAME.openai.azure.com/openai/v1, with key_header: api-key
#    model: gpt-realtime-2.1
#    key_file: /etc/parley/openai.key
#    options: {transcription: gpt-4o-mini-transcribe, turn_detection: {type: semantic_vad, eagerness: high}}
#  - name: voices
#    stage: tts
#    vendor: onnx
#    model: supertonic-3           # as parley models list shows it
#  - name: turns
#    stage: turn
#    vendor: onnx
#    model: smart-turn-v3.2
`

// trunksExample is the part of the example file for the trunks.
const trunksExample = `
# --- Trunks ---

# Lines to carriers and exchanges, with PARLEY_CARRIER sip or telnyx. Only this
# file has those of the server; accounts make others with the API. A call goes out on the trunk that lists its number, else on those
# that list none, in order; those whose targets are all down come last.
#trunks:
#  - name: carrier
#    # Where its calls go, tried in order. Without a port the name's SRV records
#    # count. transport: udp, tcp or tls.
#    targets:
#      - host: sip.carrier.example
#        transport: tls
#      - host: 192.0.2.10
#        port: 5060
#        transport: udp
#    # Where all that goes to them goes first, by a Route header; keys as of a target.
#    outbound_proxy: {host: proxy.carrier.example, port: 5060, transport: udp}
#    # Our credentials for whatever the trunk challenges.
#    username: account
#    password_file: /etc/parley/carrier.password   # or password:
#    register: off        # on: keep a registration at the targets
#    # Where its calls come from, and what they must show besides (407), if anything.
#    # Without inbound_username the source is enough, and the source of UDP can be
#    # forged: a forged call is never answered, but takes a line for half a minute.
#    # twilio, telnyx and teams are the networks that these carriers publish.
#    allow: [192.0.2.0/24]
#    inbound_username: exchange
#    inbound_password_file: /etc/parley/exchange.password
#    websocket: off       # on: phones in browsers call, from anywhere, over SIP over WebSockets at /ws/sip; they must show these
#    # Calls from these go out here. Calls to them do not come in on another trunk that
#    # lists numbers.
#    numbers: ["+15550100001"]
#    # How the trunk writes numbers. country: where numbers without a country code come from. strip
#    # and prefix: characters to take off the front of called numbers that come in, and to put there.
#    # number_form: e164 (+4934112345), plain (4934112345), international (004934112345) or
#    # national (034112345), of numbers that go out; dial_strip and dial_prefix: the same for these.
#    country: DE
#    strip: 0
#    prefix: "0"
#    number_form: e164
#    dial_strip: 0
#    dial_prefix: "1234"
#    # Called users that are no numbers, and the agents that answer them: x is any digit, and * at the end any
#    # rest. They need country, by which their calls are priced.
#    extensions:
#      100: ag_06er5bt0v9k1o7m2q3s4t5u6v0
#      2xx: ag_06er5bt0v9k1o7m2q3s4t5u6v0
#    trust_identity: on   # believe P-Asserted-Identity, verstat and attestation; off: an exchange whose users write them
#    # Where audio may come from: any source that is the first to send, as behind
#    # address translators, or vouched: the address of the description, of signalling, or in allow.
#    media: any
#    # Limits of the trunk, which the nodes on one database share evenly; 0: none.
#    channels: 30         # calls at once
#    cps: 5               # calls a second that we begin
#    codecs: [G722, PCMA, PCMU] # the best first, Opus, too; absent: those of sip_codecs
#    dtmf: events         # keys as telephone events; audio: as tones, which every far end understands
#    srtp: off            # off, offered, required or dtls
#    # Who calls, as this trunk wants it; each alone.
#    from_user: account   # instead of the calling number
#    from_host: carrier.example
#    # What others see of us on this trunk: a name in Contact, as Teams wants it, and an address in Via, Contact and
#    # the description of the audio, in place of PUBLIC_IP.
#    contact_host: voice.example.com
#    public_ip: 203.0.113.9
#    pai: on              # P-Asserted-Identity
#    ppi: off             # P-Preferred-Identity
#    privacy: off         # Privacy: id in every call
#    user_phone: on       # user=phone in the addresses
#    diversion: off       # transfers show the caller's number, ours stands in Diversion and History-Info
#    headers:             # X-Account_file: the path of a file with a secret
#      X-Account: "1"
#    prack: on            # 100rel in Supported
#    transfers: consult   # or refer: the far end is asked to do them, on this trunk's bill, and by 302 to call where a number overflows to
#    refer: sip           # transfer to sip: or tel: addresses
#    large_tcp: off       # TCP for INVITEs above 1,300 bytes
#    probe: on            # OPTIONS to the targets; off: they count as up
#    # For targets with transport: tls. Default: the system's authorities, no
#    # certificate of ours, the target's name.
#    ca: /etc/parley/carrier-ca.pem
#    cert: /etc/parley/client.pem
#    key: /etc/parley/client.key
#    server_name: sip.carrier.example
`
