import type { WidgetAssets } from './web-build.js';

/** The document of a chat. What differs from one widget to another comes from the loader. */
export const widgetFrame = ({ script, style }: WidgetAssets): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Chat</title>
<link rel="stylesheet" href="${style}">
<script src="${script}" defer></script>
</head>
<body>
<header>
<h1>Chat</h1>
<button type="button" id="clear">New chat</button>
<button type="button" id="close" aria-label="Close chat">✕</button>
</header>
<div id="log" role="log" aria-label="Messages" aria-live="off" tabindex="0"></div>
<div id="trouble" role="alert"></div>
<form>
<label class="unseen" for="box">Your message</label>
<textarea id="box" rows="1" maxlength="8000" dir="auto" enterkeyhint="send" autocomplete="off"></textarea>
<button type="button" id="send" aria-disabled="true">Send</button>
</form>
<div class="unseen" id="spoken" role="status" aria-live="polite"></div>
</body>
</html>
`;
