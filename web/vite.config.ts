import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  // A font or picture in the style sheet as `data:` would be refused by the policy that the console is served with.
  build: { outDir: "dist/console", target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 1000 },
  // While one works on it: a server beside it, which must be told that this page is its own (`[server] hosts` is not enough: the
  // origin differs), so the proxy says so.
  server: {
    proxy: {
      "/v1": {
        target: process.env.WINDLASS_SERVER ?? "http://127.0.0.1:7117",
        ws: true,
        changeOrigin: true,
        configure: (proxy) => {
          proxy.on("proxyReq", (request) => {
            request.removeHeader("origin");
            request.removeHeader("sec-fetch-site");
          });
        },
      },
    },
  },
});
