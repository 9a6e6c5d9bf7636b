package preset

import "parley/api/wire"

var (
	yes, no = true, false
	g711    = []string{"PCMU", "PCMA"}
	wide    = []string{"G722", "PCMU", "PCMA"}
)

// presets are all of them. In FarEnd stand {host}, {port}, {username}, {inbound_username}, {from_user}, {from_host} and {questions}, the
// address at which a carrier asks, and {phones}, that of phones' WebSockets, which the function FarEnd fills in.
var presets = []wire.TrunkPreset{
	{
		Name: "asterisk", Title: "Asterisk and FreePBX", State: Documented,
		Summary:  "A PJSIP trunk between two addresses. Asterisk identifies itself by a password; it knows this server by its address.",
		Settings: wire.TrunkSettings{TrustIdentity: &no, Codecs: wide, DTMF: "events", NumberForm: "e164"},
		Needs:    []string{"targets", "allow", "inbound_username", "inbound_password"},
		FarEnd: []string{
			"FreePBX: Connectivity, Trunks, Add a PJSIP trunk. Authentication: Outbound. Registration: None. SIP Server: {host}, SIP Server Port: {port}. Username: {inbound_username}. Secret: the trunk's inbound_password. DTMF Mode: RFC 4733. Codecs: g722, ulaw, alaw.",
			"Plain Asterisk, pjsip.conf: an endpoint with aors, outbound_auth (auth_type=userpass, username={inbound_username}) and allow=!all,g722,ulaw,alaw; an aor with contact=sip:{host}:{port} and qualify_frequency=30; an identify with match={host}.",
			"An outbound route, or Dial(PJSIP/${EXTEN}@TRUNK), for the numbers and extensions that agents answer.",
			"An inbound route, or the endpoint's context, for calls that agents place.",
		},
		Sources: []wire.TrunkPresetSource{{Title: "PJSIP configuration examples", URL: "https://docs.asterisk.org/Configuration/Channel-Drivers/SIP/Configuring-res_pjsip/res_pjsip-Configuration-Examples/"}},
	},
	{
		Name: "freeswitch", Title: "FreeSWITCH", State: Documented,
		Summary:  "A gateway of FreeSWITCH to this server, without registration. FreeSWITCH identifies itself by a password; it knows this server by its address.",
		Settings: wire.TrunkSettings{TrustIdentity: &no, Codecs: wide, DTMF: "events", NumberForm: "e164"},
		Needs:    []string{"targets", "allow", "inbound_username", "inbound_password"},
		FarEnd: []string{
			"sip_profiles/external/parley.xml: a gateway named parley with the parameters proxy={host}:{port}, username={inbound_username}, password=the trunk's inbound_password, register=false, caller-id-in-from=true, ping=30.",
			"Dialplan: bridge sofia/gateway/parley/$1 for the numbers and extensions that agents answer.",
			"autoload_configs/acl.conf.xml: allow {host} in the list that apply-inbound-acl of the profile names, and route its calls in the profile's context.",
			"Write the port of that profile into the trunk's targets: 5080 for external.",
		},
		Sources: []wire.TrunkPresetSource{{Title: "Sofia configuration files: gateways", URL: "https://developer.signalwire.com/freeswitch/FreeSWITCH-Explained/Configuration/Sofia-SIP-Stack/Sofia-Configuration-Files_7144453/"}},
	},
	{
		Name: "3cx", Title: "3CX", State: Documented,
		Summary:  "3CX has trunks to providers that it registers with only, so this server registers with 3CX, as one of its extensions.",
		Settings: wire.TrunkSettings{Register: &yes, TrustIdentity: &no, Codecs: g711, DTMF: "events", NumberForm: "e164"},
		Needs:    []string{"targets", "username", "password", "from_user"},
		FarEnd: []string{
			"Admin console, Users: add a user with the extension {from_user} for the agent, and no voicemail.",
			"Its authentication: ID {username}, password: the trunk's password. Allow use of the extension outside of the LAN.",
			"Write 3CX's public name into the trunk's targets, and {from_user} as an extension of the trunk with the agent that answers.",
			"Have a ring group, a digital receptionist or an inbound rule send calls to {from_user}. An outbound rule for {from_user} carries calls that agents place.",
		},
		Sources: []wire.TrunkPresetSource{
			{Title: "Requirements for VoIP providers", URL: "https://www.3cx.com/docs/supported-sip-trunk-requirements/"},
			{Title: "Outbound calls: the INVITE", URL: "https://www.3cx.com/docs/sip-trunk-outbound-calls/"},
		},
	},
	{
		Name: "kamailio", Title: "Kamailio", State: Tried,
		Summary:  "A proxy before this server, known by its address.",
		Tried:    "The edge of deploy/kamailio runs with Kamailio itself; calls on a trunk with these settings pass through it in both directions.",
		Settings: wire.TrunkSettings{NumberForm: "e164"},
		Needs:    []string{"targets", "allow"},
		FarEnd: []string{
			"dispatcher.list: 1 sip:{host}:{port}",
			"Request route: record_route() for INVITE, then ds_select_dst(\"1\", \"4\") and t_relay(). Leave the called number in the Request-URI.",
			"Let {host} call out: of the requests that come from it, relay those with a number to your carrier.",
			"Audio passes by unless rtpengine takes it: then the trunk's allow has the address of rtpengine, too.",
		},
		Sources: []wire.TrunkPresetSource{{Title: "The dispatcher module", URL: "https://www.kamailio.org/docs/modules/stable/modules/dispatcher.html"}},
	},
	{
		Name: "twilio", Title: "Twilio Elastic SIP Trunking", State: Documented,
		Summary:  "Twilio calls this server from its own networks; calls that go out identify themselves by a credential list.",
		Settings: wire.TrunkSettings{Allow: []string{"twilio"}, Codecs: g711, DTMF: "events", NumberForm: "e164"},
		Needs:    []string{"targets", "username", "password"},
		FarEnd: []string{
			"Elastic SIP Trunking, Manage, Trunks: create a trunk.",
			"Termination: choose a SIP URI such as NAME.pstn.twilio.com, which is the target of the trunk here, and a credential list with the user {username} and the trunk's password.",
			"Origination: add the URI sip:{host}:{port}.",
			"Numbers: add the numbers, and put each on the trunk here.",
			"With Secure Trunking, write targets with transport tls and srtp required; the origination URI is then sip:{host}:5061;transport=tls.",
		},
		Sources: []wire.TrunkPresetSource{
			{Title: "Elastic SIP Trunking", URL: "https://www.twilio.com/docs/sip-trunking"},
			{Title: "IP addresses", URL: "https://www.twilio.com/docs/sip-trunking/ip-addresses"},
		},
	},
	{
		Name: "telnyx", Title: "Telnyx", State: Documented,
		Summary:  "This server registers with a credential connection, so that no addresses are to be kept.",
		Settings: wire.TrunkSettings{Targets: []wire.TrunkTarget{{Host: "sip.telnyx.com"}}, Register: &yes, Codecs: wide, DTMF: "events", NumberForm: "e164"},
		Needs:    []string{"username", "password"},
		FarEnd: []string{
			"Voice, SIP Trunking: create a SIP connection of the type Credentials with the user {username} and the trunk's password.",
			"Inbound: number format +E.164.",
			"Numbers: assign the numbers to the connection, and put each on the trunk here.",
			"Outbound Voice Profiles: one with the connection and the countries that agents call.",
		},
		Sources: []wire.TrunkPresetSource{{Title: "Authentication methods", URL: "https://developers.telnyx.com/docs/voice/sip-trunking/authentication/credential-types"}},
	},
	{
		Name: "vonage", Title: "Vonage SIP Trunking", State: Documented,
		Summary:  "Vonage calls this server from its own networks; calls that go out identify themselves by credentials of the trunk's domain.",
		Settings: wire.TrunkSettings{Codecs: wide, DTMF: "events", NumberForm: "plain"},
		Needs:    []string{"targets", "allow", "username", "password"},
		FarEnd: []string{
			"SIP Trunks: create a trunk. Its domain, such as NAME.sip-us.vonage.com, is the target of the trunk here.",
			"Outbound: authentication by digest, with the user {username} and the trunk's password.",
			"Inbound: the region, and the URI {host}:{port}.",
			"Numbers: link the numbers, and put each on the trunk here.",
			"Write the signalling networks that Vonage lists for the region into the trunk's allow.",
		},
		Sources: []wire.TrunkPresetSource{{Title: "SIP trunking: technical details", URL: "https://developer.vonage.com/en/sip/technical-details"}},
	},
	{
		Name: "teams", Title: "Microsoft Teams, direct routing", State: Documented,
		Summary: "Teams knows this server as a session border controller: by a name of your tenant's domain, over TLS, with encrypted audio.",
		Settings: wire.TrunkSettings{Targets: []wire.TrunkTarget{{Host: "sip.pstnhub.microsoft.com", Port: 5061, Transport: "tls"}, {Host: "sip2.pstnhub.microsoft.com", Port: 5061, Transport: "tls"},
			{Host: "sip3.pstnhub.microsoft.com", Port: 5061, Transport: "tls"}}, Allow: []string{"teams"}, Codecs: wide, DTMF: "events", SRTP: "required", NumberForm: "e164"},
		Needs: []string{"from_host", "contact_host", "cert", "key"},
		FarEnd: []string{
			"DNS: {from_host} leads to this server, in a domain that the tenant has verified.",
			"Get a certificate for {from_host} from an authority that Teams trusts: it is the trunk's cert, which Teams compares with the trunk's contact_host, {from_host} too.",
			"The operator of this server sets PARLEY_SIP_TLS_ADDR, with a certificate for {from_host}, for the calls that come from Teams.",
			"Teams admin center, Voice, Direct Routing, SBCs: add {from_host} with the SIP signaling port {port}, Send SIP options on.",
			"Voice routes: a route with this SBC for the numbers that agents answer, and a voice routing policy for the users who call them.",
		},
		Sources: []wire.TrunkPresetSource{
			{Title: "Plan Direct Routing", URL: "https://learn.microsoft.com/en-us/microsoftteams/direct-routing-plan"},
			{Title: "Direct Routing: SIP protocol", URL: "https://learn.microsoft.com/en-us/microsoftteams/direct-routing-protocols-sip"},
		},
	},
	{
		Name: "twilio-stream", Title: "Twilio without a SIP trunk", State: Documented,
		Summary:  "A number of Programmable Voice: Twilio asks this server what to do with a call, and brings the audio over a WebSocket (Media Streams). Calls come in; none go out.",
		Settings: wire.TrunkSettings{Stream: "twilio"},
		Needs:    []string{"inbound_password"},
		FarEnd: []string{
			"Account Info: the auth token is the trunk's inbound_password. Twilio signs its questions with it; a trunk has the token of one Twilio account.",
			"Phone Numbers, Manage, Active numbers, the number, Voice: A call comes in: Webhook, {questions}, HTTP POST.",
			"Put the number on the trunk here, with the agent that answers.",
		},
		Sources: []wire.TrunkPresetSource{
			{Title: "Media Streams: WebSocket messages", URL: "https://www.twilio.com/docs/voice/media-streams/websocket-messages"},
			{Title: "TwiML: Stream", URL: "https://www.twilio.com/docs/voice/twiml/stream"},
			{Title: "Security: validating requests", URL: "https://www.twilio.com/docs/usage/security"},
		},
	},
	{
		Name: "telnyx-stream", Title: "Telnyx without a SIP trunk", State: Documented,
		Summary:  "A number of a TeXML application: Telnyx asks this server what to do with a call, and brings the audio over a WebSocket (media streaming). Calls come in; none go out.",
		Settings: wire.TrunkSettings{Stream: "telnyx"},
		Needs:    []string{"inbound_password"},
		FarEnd: []string{
			"Keys & Credentials, Public Key: it is the trunk's inbound_password. Telnyx signs its questions with the key that goes with it.",
			"Voice, Programmable Voice, TeXML Applications: create one with the webhook URL {questions} and the voice method POST.",
			"Numbers: assign the numbers to the application, and put each on the trunk here, with the agent that answers.",
		},
		Sources: []wire.TrunkPresetSource{
			{Title: "Media streaming over WebSockets", URL: "https://developers.telnyx.com/docs/voice/programmable-voice/media-streaming"},
			{Title: "TeXML: Stream", URL: "https://developers.telnyx.com/docs/voice/programmable-voice/texml-verbs/stream"},
			{Title: "Webhooks", URL: "https://developers.telnyx.com/docs/development/api-fundamentals/webhooks/receiving-webhooks"},
		},
	},
	{
		Name: "vonage-stream", Title: "Vonage without a SIP trunk", State: Documented,
		Summary:  "A number of a Voice API application: Vonage asks this server what to do with a call, and brings the audio over a WebSocket, at 16 kHz. Calls come in; none go out.",
		Settings: wire.TrunkSettings{Stream: "vonage"},
		Needs:    []string{"inbound_password"},
		FarEnd: []string{
			"API Settings, Signed webhooks: the signature secret is the trunk's inbound_password. Signed webhooks stay on in the application.",
			"Applications: create one with the capability Voice. Answer URL: {questions}, HTTP POST.",
			"Numbers: link the numbers to the application, and put each on the trunk here, with the agent that answers.",
			"Vonage has no word that refuses a call: callers who cannot be answered hear a sentence, and Vonage charges that call.",
		},
		Sources: []wire.TrunkPresetSource{
			{Title: "WebSockets", URL: "https://developer.vonage.com/en/voice/voice-api/guides/websockets"},
			{Title: "NCCO reference", URL: "https://developer.vonage.com/en/voice/voice-api/ncco-reference"},
			{Title: "Webhooks", URL: "https://developer.vonage.com/en/getting-started/concepts/webhooks"},
		},
	},
	{
		Name: "browser-phone", Title: "A phone in a browser", State: Tried,
		Tried:    "Pages with JsSIP 3.12 and with sip.js 0.16, in Chromium, call an agent on a trunk with these settings, hear it, press a key and are hung up on.",
		Summary:  "A page with JsSIP, sip.js or another library that speaks SIP over a WebSocket (RFC 7118). It calls from anywhere, with a password. Calls come in; none go out.",
		Settings: wire.TrunkSettings{WebSocket: &yes, TrustIdentity: &no, SRTP: "offered"},
		Needs:    []string{"inbound_username", "inbound_password"},
		FarEnd: []string{
			"JsSIP: a WebSocketInterface of {phones}, and a UA with the uri sip:{inbound_username}@{host}, the trunk's inbound_password as password, and register false. It calls sip:NUMBER@{host}.",
			"sip.js: a UserAgent with the server {phones}, the uri sip:{inbound_username}@{host}, authorizationUsername {inbound_username} and the trunk's inbound_password as authorizationPassword, and no Registerer.",
			"Put the numbers that the page calls on the trunk here, or write other users that it calls as extensions of the trunk, with the agents that answer.",
			"Who sees the page can read the password: give the page a trunk of its own, with channels for as many calls as you want at once.",
		},
		Sources: []wire.TrunkPresetSource{
			{Title: "JsSIP: UA configuration", URL: "https://jssip.net/documentation/3.10.x/api/ua_configuration_parameters/"},
			{Title: "SIP.js: UserAgentOptions", URL: "https://github.com/onsip/SIP.js/blob/main/docs/api/sip.js.useragentoptions.md"},
			{Title: "SIP over WebSockets", URL: "https://www.rfc-editor.org/rfc/rfc7118"},
		},
	},
}
