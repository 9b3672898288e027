// A picture that a call brought, as a browser's screen. Only what is one of these kinds is drawn.
import { useQuery } from "@tanstack/react-query";

import { blob } from "../api/queries";
import type { Picture } from "../api/types";
import { Failed, Loading } from "../parts/States";
import { Visible } from "../text/Visible";
import { useAddress } from "./useAddress";

const DRAWN = ["image/png", "image/jpeg", "image/gif", "image/webp"];

export function CallPicture({ picture }: { picture: Picture }) {
  const isDrawn = DRAWN.includes(picture.media_type);
  const found = useQuery({ ...blob(picture.digest), enabled: isDrawn });
  const url = useAddress(found.data, isDrawn ? picture.media_type : undefined);
  if (found.isError) return <Failed error={found.error} again={() => void found.refetch()} />;
  return (
    <figure className="call-picture">
      {url === null ? isDrawn && <Loading what="a picture" /> : <img src={url} alt={picture.name} width={picture.width} height={picture.height} />}
      <figcaption className="muted small"><Visible text={picture.name} /> <span className="number">{picture.width} × {picture.height}</span></figcaption>
    </figure>
  );
}
