// An OIDC issuer for browser tests: the package oidc-provider with one client, and a form that asks for a name.
// It says on standard output where it is, and ends with standard input.
import { createServer } from "node:http";
import Provider from "oidc-provider";

const [clientId, clientSecret] = process.argv.slice(2);
const BACK = /^http:\/\/127\.0\.0\.1:\d+\/signin\/login$/;

function serve(issuer) {
  const provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: ["http://127.0.0.1/"] }],
    cookies: { keys: ["of a test"] },
    features: { devInteractions: { enabled: false } },
    acrValues: ["pwd", "phr"],
    claims: { openid: ["sub", "amr"], profile: ["name"], groups: ["groups"] },
    conformIdTokenClaims: false,
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: `${id} of the issuer`, groups: ["ops"] }),
    }),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope("openid profile groups");
      await grant.save();
      return grant;
    },
  });
  // The service's port is not known yet.
  provider.Client.prototype.redirectUriAllowed = (uri) => BACK.test(uri);
  const rest = provider.callback();
  return async (request, response) => {
    if (!request.url.startsWith("/interaction/")) return rest(request, response);
    const { params, prompt } = await provider.interactionDetails(request, response);
    if (request.method !== "POST") {
      response.setHeader("content-type", "text/html");
      return response.end(
        `<!doctype html><html lang="en"><title>Issuer</title><h1>Who are you?</h1><form method="post">
        <label>Name <input name="login" autofocus></label><button>Sign in</button></form><p>${prompt.name}</p>`,
      );
    }
    let body = "";
    for await (const chunk of request) body += chunk;
    const accountId = new URLSearchParams(body).get("login");
    const isStrong = params.acr_values !== undefined;
    const login = { accountId, acr: isStrong ? "phr" : "pwd", amr: isStrong ? ["pin", "hwk"] : ["pwd"] };
    const result = accountId === "nobody" ? { error: "access_denied" } : { login };
    return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  };
}

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  server.on("request", serve(issuer));
  console.log(issuer);
});
process.stdin.resume().on("end", () => process.exit(0));
