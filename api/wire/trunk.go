package wire

import "time"

// TrunkTarget is a server of a trunk.
type TrunkTarget struct {
	Host      string `json:"host" doc:"Its name or address, on the public Internet unless the operator allows another." minLength:"1" maxLength:"253" example:"sip.carrier.example"`
	Port      int    `json:"port,omitempty" doc:"0 or absent: the name's SRV records, and else the transport's usual one." minimum:"0" maximum:"65535" example:"5060"`
	Transport string `json:"transport,omitempty" doc:"Absent: udp." enum:"udp,tcp,tls" example:"tls"`
}

// TrunkExtension is a called user of a trunk that is no telephone number.
type TrunkExtension struct {
	Match   string `json:"match" doc:"The user of the called address. An x stands for any digit where all else is digits, and a * at the end for any rest. The first that matches counts." minLength:"1" maxLength:"64" example:"1xx"`
	AgentID string `json:"agent_id" doc:"Who answers." minLength:"1" maxLength:"100" example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

// TrunkSettings are what an account says of a trunk, without its passwords.
type TrunkSettings struct {
	Preset          string        `json:"preset,omitempty" doc:"A preset, whose settings count where none is sent, also when the trunk is replaced; an empty list counts as not sent. Absent: none." enum:"asterisk,freeswitch,3cx,kamailio,twilio,telnyx,vonage,teams,twilio-stream,telnyx-stream,vonage-stream,browser-phone" example:"asterisk"`
	Stream          string        `json:"stream,omitempty" doc:"The carrier that brings its calls over a WebSocket of its own, in place of SIP: a number without a SIP trunk. It signs its questions with inbound_password. Such a trunk has no other settings, and calls do not go out on it. Absent: it speaks SIP." enum:"twilio,telnyx,vonage"`
	Targets         []TrunkTarget `json:"targets,omitempty" doc:"Where its calls go, the preferred one first; none: the trunk only brings calls." maxItems:"8" nullable:"false"`
	OutboundProxy   *TrunkTarget  `json:"outbound_proxy,omitempty" doc:"Where all that goes to the targets goes first, by a Route header. Its calls may come in, too, on a trunk that registers. Absent: nowhere else."`
	Username        string        `json:"username,omitempty" doc:"Ours, for whatever the trunk challenges." maxLength:"256" example:"account"`
	Register        *bool         `json:"register,omitempty" doc:"Keep a registration at the targets. Calls may then come from these, too. Absent: no, unless the preset does."`
	Allow           []string      `json:"allow,omitempty" doc:"Addresses and networks that its calls come from; twilio, telnyx and teams are those that these carriers publish for their signalling. One belongs to the trunks of one account, unless they have an inbound_username each." maxItems:"64" nullable:"false" example:"192.0.2.0/28"`
	InboundUsername string        `json:"inbound_username,omitempty" doc:"Who incoming calls must identify themselves as (407); absent: the source is enough, but for websocket. The source of UDP can be forged." maxLength:"256" example:"exchange"`
	WebSocket       *bool         `json:"websocket,omitempty" doc:"Take calls of phones that are made of a browser, over SIP over WebSockets (RFC 7118) at /ws/sip, wherever they are. They identify themselves as inbound_username. Absent: no, unless the preset does."`
	TrustIdentity   *bool         `json:"trust_identity,omitempty" doc:"Whether P-Asserted-Identity and verstat are believed; absent: they are. False for exchanges whose users write them."`
	Media           string        `json:"media,omitempty" doc:"Where audio may come from: any source that is the first to send, as behind address translators, or vouched: the address of the description, of signalling, or in allow. Absent: any." enum:"any,vouched"`
	Channels        int           `json:"channels,omitempty" doc:"Calls at once, both directions; 0: no limit." minimum:"0" maximum:"100000"`
	CPS             int           `json:"cps,omitempty" doc:"Calls a second that are begun here; 0: no limit." minimum:"0" maximum:"1000"`
	Codecs          []string      `json:"codecs,omitempty" doc:"Of Opus, G722, PCMU and PCMA, the best first: their order in offers, and which of an offer is taken. Opus and G722 have twice the band; Opus bears losses, and takes about twice the processor time of G.711. Absent: as the operator has set." maxItems:"4" nullable:"false" example:"PCMA"`
	DTMF            string        `json:"dtmf,omitempty" doc:"How keys are sent: as telephone events (RFC 4733), or as tones in the audio, for a far end that agrees on events and loses them. Absent: events, where the far end takes them. They are understood in either way." enum:"events,audio"`
	SRTP            string        `json:"srtp,omitempty" doc:"Encryption of the audio: offered, where the far end can; required, always; dtls, always, with keys by a handshake on the media's port. Absent: off, and offered where websocket is set." enum:"off,offered,required,dtls"`

	Country    string           `json:"country,omitempty" doc:"Where numbers without a country code come from, an ISO 3166 code: on a trunk in DE 0341 112233 is +49341112233." pattern:"^[A-Z]{2}$" example:"DE"`
	Strip      int              `json:"strip,omitempty" doc:"How many characters are taken off the front of called numbers that come in." minimum:"0" maximum:"16"`
	Prefix     string           `json:"prefix,omitempty" doc:"What stands there then." pattern:"^[0-9*#+]{0,16}$"`
	NumberForm string           `json:"number_form,omitempty" doc:"How numbers are written that go out: +49341112233, 49341112233, 0049341112233, or 0341112233 within the country. Absent: e164." enum:"e164,plain,international,national"`
	DialStrip  int              `json:"dial_strip,omitempty" doc:"How many characters are taken off the front of called numbers that go out, in that form." minimum:"0" maximum:"16"`
	DialPrefix string           `json:"dial_prefix,omitempty" doc:"What stands there then, such as a technical prefix." pattern:"^[0-9*#+]{0,16}$"`
	Extensions []TrunkExtension `json:"extensions,omitempty" doc:"Called users that are no telephone numbers, and who answers them." maxItems:"64" nullable:"false"`

	FromUser    string            `json:"from_user,omitempty" doc:"Stands in From in place of the calling number." pattern:"^[A-Za-z0-9+._*#-]{0,64}$" example:"account"`
	FromHost    string            `json:"from_host,omitempty" doc:"Stands in From and the identity headers in place of this server's address." maxLength:"253" example:"carrier.example"`
	ContactHost string            `json:"contact_host,omitempty" doc:"Stands in Contact in place of this server's address: a name that leads to it, as Microsoft Teams wants it." maxLength:"253" example:"voice.example.com"`
	PublicIP    string            `json:"public_ip,omitempty" doc:"What the far end sees of this server in Via, Contact and the description of the audio, in place of its address. It must lead here." maxLength:"45" example:"203.0.113.9"`
	PAI         bool              `json:"pai,omitempty" doc:"Send P-Asserted-Identity."`
	PPI         bool              `json:"ppi,omitempty" doc:"Send P-Preferred-Identity."`
	Privacy     bool              `json:"privacy,omitempty" doc:"Send Privacy: id in every call."`
	UserPhone   bool              `json:"user_phone,omitempty" doc:"Mark numbers with user=phone."`
	Diversion   bool              `json:"diversion,omitempty" doc:"Show callees of transfers the caller's number, with the account's in Diversion. The other side must carry calls from numbers that are not the account's."`
	Headers     map[string]string `json:"headers,omitempty" doc:"Stand in every INVITE. Names begin with X-. They are shown to all who may read the trunk."`
	PRACK       *bool             `json:"prack,omitempty" doc:"Whether 100rel is supported; absent: it is."`
	Transfers   string            `json:"transfers,omitempty" doc:"How callers are handed over: by a second call that this server places, or by the far end, which is asked to (REFER). Absent: consult." enum:"consult,refer"`
	Refer       string            `json:"refer,omitempty" doc:"The form of the target of a REFER; absent: sip." enum:"sip,tel"`
	LargeTCP    bool              `json:"large_tcp,omitempty" doc:"Send INVITEs of more than 1,300 bytes over TCP."`
	Probe       *bool             `json:"probe,omitempty" doc:"Whether targets are asked by OPTIONS whether they live; absent: they are. Without it they count as up."`

	CA         string `json:"ca,omitempty" doc:"Authorities whose certificates the targets may show over TLS, as PEM; absent: the system's." maxLength:"65536"`
	Cert       string `json:"cert,omitempty" doc:"Ours, that targets are shown over TLS where they ask for one, as PEM, with those that lead to its authority; absent: none. It is the trunk's own, not the server's." maxLength:"65536"`
	ServerName string `json:"server_name,omitempty" doc:"Whom the certificate must be for, in place of the target." maxLength:"253" example:"sip.carrier.example"`
}

// NewTrunk is a trunk as its owner writes it.
type NewTrunk struct {
	Name string `json:"name" doc:"Names it on pages and commands; each of the account's another." pattern:"^[A-Za-z0-9._-]{1,63}$" example:"office"`
	TrunkSettings
	Password        string `json:"password,omitempty" doc:"Ours, that goes with username. It is stored encrypted and never shown." maxLength:"256" writeOnly:"true"`
	Key             string `json:"key,omitempty" doc:"The private key of cert, as PEM. It is stored encrypted and never shown." maxLength:"16384" writeOnly:"true"`
	InboundPassword string `json:"inbound_password,omitempty" doc:"The far end's, that goes with inbound_username. With stream, by what the carrier's questions are checked: the auth token at Twilio, the public key at Telnyx, the signature secret at Vonage. It is stored encrypted and never shown." maxLength:"256" writeOnly:"true"`
}

// Trunk is a line of the account to a carrier or an exchange.
type Trunk struct {
	ID   string `json:"id" doc:"Names the trunk in requests." example:"trk_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Name string `json:"name" doc:"As its owner calls it." example:"office"`
	TrunkSettings
	FarEnd    []string     `json:"far_end,omitempty" doc:"What to enter on the other side, step by step; only of a trunk with a preset." nullable:"false"`
	Status    *TrunkStatus `json:"status,omitempty" doc:"How it does on the node that answers; absent: it does not know the trunk yet."`
	CreatedAt time.Time    `json:"created_at" doc:"When it was made."`
	UpdatedAt time.Time    `json:"updated_at" doc:"When it was changed last."`
}

// TrunkStatus is how a trunk does on one node.
type TrunkStatus struct {
	Calls        int                `json:"calls" doc:"On it now, both directions." example:"2"`
	Targets      []TargetStatus     `json:"targets" doc:"Its servers, as their names were found, in the order in which they are tried." nullable:"false"`
	Registration *TrunkRegistration `json:"registration,omitempty" doc:"Only of a trunk that registers."`
	Error        string             `json:"error,omitempty" doc:"Why it does not work, or not wholly." example:"resolve sip.carrier.example: no such host"`
}

// TargetStatus is one server of a trunk.
type TargetStatus struct {
	Target string `json:"target" doc:"Transport and address." example:"udp:192.0.2.10:5060"`
	Up     bool   `json:"up" doc:"Whether calls are sent there."`
	Detail string `json:"detail,omitempty" doc:"Why it is down, or what it last missed." example:"OPTIONS: 503 Service Unavailable"`
}

// TrunkRegistration is how the registration of a trunk stands.
type TrunkRegistration struct {
	Registered bool       `json:"registered" doc:"Whether it is in force."`
	Until      *time.Time `json:"until" doc:"When it ends unless it is refreshed; null: it is not in force."`
	Error      string     `json:"error,omitempty" doc:"Of the last attempt." example:"REGISTER: 403 Forbidden"`
}

// TrunkPreset is what is known of one make of exchange or of one carrier: settings that a trunk with it has, and what to enter there.
type TrunkPreset struct {
	Name     string              `json:"name" doc:"Names it in the settings of a trunk." example:"asterisk"`
	Title    string              `json:"title" doc:"Of the maker, for people." example:"Asterisk and FreePBX"`
	Summary  string              `json:"summary" doc:"How the two are connected, in a sentence." example:"Calls go both ways between two addresses."`
	State    string              `json:"state" doc:"tried: tests of this program call the real thing. documented: its maker describes it so." enum:"tried,documented"`
	Tried    string              `json:"tried,omitempty" doc:"What the tests do; only of one that is tried." example:"Calls pass through it in both directions."`
	Settings TrunkSettings       `json:"settings" doc:"Of a trunk with it, where its owner sends none."`
	Needs    []string            `json:"needs" doc:"Settings that its owner must send besides the name." nullable:"false" example:"targets"`
	FarEnd   []string            `json:"far_end" doc:"What to enter on the other side, step by step. What only a trunk knows stands in capitals, such as USERNAME." nullable:"false"`
	Sources  []TrunkPresetSource `json:"sources" doc:"Pages of its maker that this comes from." nullable:"false"`
	Page     string              `json:"page" doc:"Its page of the documentation of this server." example:"/docs/trunks/asterisk"`
}

// TrunkPresetSource is a page of a maker's documentation.
type TrunkPresetSource struct {
	Title string `json:"title" doc:"What the page is about." example:"PJSIP configuration examples"`
	URL   string `json:"url" doc:"Where it is." example:"https://docs.example.com/trunks"`
}

// NewTrunkNumber is a number that reaches the account by a trunk of its own.
type NewTrunkNumber struct {
	PhoneNumber string `json:"phone_number" doc:"In international format." minLength:"4" maxLength:"32" example:"+4934112345678"`
	AgentID     string `json:"agent_id,omitempty" doc:"Who answers; absent: nobody yet." maxLength:"100" example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
}
